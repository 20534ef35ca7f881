# SPDX-License-Identifier: GPL-2.0-only
"""Lets the lab's kernel give memory in large pieces while the agent starts.

User-Mode Linux stops a process three times at its first use of a page. Python uses thousands of
new pages while it imports modules and builds the network. With locked memory, the kernel makes all
pages of a new mapping at once. This ends before the first trial: a thread's whole stack would be
made, too.
"""

from __future__ import annotations

import ctypes

MCL_FUTURE = 2  # linux/mman.h
USER_MODE_LINUX = "uml_dir="  # a word of its boot line


def in_large_pieces() -> None:
    """Make all pages of a new mapping at once, from now on.

    On other kernels a page costs little, so nothing changes there.
    """
    with open("/proc/cmdline", encoding="utf-8") as told:  # noqa: PTH123 (pathlib needs memory)
        if USER_MODE_LINUX in told.read():
            ctypes.CDLL(None).mlockall(MCL_FUTURE)


def page_by_page() -> None:
    """Make each page at its first use, from now on; pages that there are stay."""
    ctypes.CDLL(None).munlockall()
