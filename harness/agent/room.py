# SPDX-License-Identifier: GPL-2.0-only
"""Gives the host the lab's memory that holds nothing, where set-up made the module for it.

The host keeps each page that a lab has used once: pages that the lab has freed, pages of zeros,
such as those of a queue's maps, and descriptions of pages that the lab does not need.
topology/room says how the lab gives them back.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from topology import modules

MODULE = "cellbed_room"
FILE = Path("/proc", MODULE)
SYSCTLS = Path("/proc/sys/vm")
BACKING = Path("/sys/class/bdi")
# The kernel reads so much of a file of the image at once. By itself, it reads 128 KiB, mostly for
# nothing.
READ_AHEAD_KIB = 16
MADV_RANDOM = 1  # linux/mman.h: a page at a time
# A trial may take as much memory before the kernel asks the module for more.
FREE_MIB, FREE_MIB_PER_PAIR = 128, 1
# Less free memory wakes the thread that asks the module: so much is left for packets until it runs.
EARLY_MIB = 64


def give_back(pairs: int, *, files: bool = False) -> tuple[int, int]:
    """Give back what holds nothing now; without the module, nothing.

    Args:
        pairs: of the network.
        files: also what programs have read of the image; they read again what they use.

    Returns:
        How many pages that hold nothing became holes, and of how many blocks of 4 MiB the module
        keeps the descriptions away.
    """
    if not modules.is_ours(MODULE):
        return 0, 0
    if not FILE.exists():
        prepare(memory_mib())
        modules.insert(MODULE)
    if files:
        read_page_by_page()
    with FILE.open("r+b", buffering=0) as file:
        words = [str(FREE_MIB + FREE_MIB_PER_PAIR * pairs), *(["files"] if files else [])]
        file.write(" ".join(words).encode())
        file.seek(0)
        pages, blocks = file.read(48).split()
    return int(pages), int(blocks)


def prepare(mib: dict[str, int]) -> None:
    """Let the kernel do without its caches, and as before with less free memory."""
    # How much may wait to be written is a part of the free memory, unless it is said.
    may_wait = mib["MemFree"] + mib["Active(file)"] + mib["Inactive(file)"]
    say("dirty_bytes", may_wait // 5 << 20)
    say("dirty_background_bytes", may_wait // 10 << 20)
    say("watermark_scale_factor", max(1, min(3000, EARLY_MIB * 10_000 // mib["MemTotal"])))
    say("drop_caches", 3)
    for image in BACKING.glob("hostfs-*"):  # counts for files that are opened from now on
        (image / "read_ahead_kb").write_text(str(READ_AHEAD_KIB))


def read_page_by_page() -> None:
    """Read single pages of the files that this process has mapped, when it needs them again."""
    advise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, _, *file = line.split()
        if file and file[0].startswith("/") and "w" not in rights:
            first, end = (int(address, 16) for address in addresses.split("-"))
            advise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_RANDOM)


def say(sysctl: str, value: int) -> None:
    (SYSCTLS / sysctl).write_text(str(value))


def memory_mib() -> dict[str, int]:
    """What the kernel says of its memory, by name."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return {name: int(value.split()[0]) >> 10 for name, value in (x.split(":") for x in lines)}
