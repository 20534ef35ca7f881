# SPDX-License-Identifier: GPL-2.0-only
"""Which files of a kernel's source the lab kernel is made of.

Of the other architectures and of most drivers the configuration and nothing else is read.
"""

from __future__ import annotations

import re

FOLDERS = (
    "arch/um arch/x86 block certs crypto drivers/base drivers/block drivers/char drivers/tty fs "
    "include init io_uring ipc kernel lib mm net scripts security tools/include tools/lib usr virt"
).split()
ANYWHERE = "Kconfig Makefile Kbuild".split()
DRIVERS = "drivers/net"

WANTED = re.compile(
    rf"(?:{'|'.join(FOLDERS)})/|{DRIVERS}/[^/]+\.[ch]$|(?:.*/)?(?:{'|'.join(ANYWHERE)})[^/]*$"
)
# What a build in the tree itself leaves, where Git does not tell.
MADE = re.compile(
    r"(?:.*/)?(?:\.[^/]*\.cmd|\.tmp_[^/]*|modules\.order|[^/]+\.(?:o|a|ko|mod|mod\.c|cmd|so|dtb))$"
    r"|include/(?:generated|config)/|arch/[^/]+/include/generated/"
)


def wanted(path: str) -> bool:
    """Is a file, by its path from the top of the source, part of the lab kernel?"""
    return WANTED.match(path) is not None


def words_for_tar() -> list[str]:
    """The same of an archive with one folder at its top."""
    anywhere = [f"*/{name}*" for name in ANYWHERE]
    folders = [f"*/{name}" for name in FOLDERS]
    drivers = f"*/{DRIVERS}/*.[ch]"
    return ["--wildcards", *anywhere, "--no-wildcards-match-slash", drivers, *folders]
