# SPDX-License-Identifier: GPL-2.0-only
"""Gives the host the lab's memory that holds nothing, where set-up made the module for it.

The host keeps each page that a lab has used once: pages that the lab has freed, pages of zeros,
such as those of a queue's maps, and descriptions of pages that the lab does not need.
topology/room says how the lab gives them back.
"""

from __future__ import annotations

from pathlib import Path

from topology import modules

MODULE = "cellbed_room"
FILE = Path("/proc", MODULE)
# A trial may take as much memory before the kernel asks the module for more.
FREE_MIB, FREE_MIB_PER_PAIR = 512, 2


def give_back(pairs: int) -> tuple[int, int]:
    """Give back what holds nothing now; without the module, nothing.

    Returns:
        How many pages that hold nothing became holes, and of how many blocks of 4 MiB the module
        keeps the descriptions away.
    """
    if not modules.is_ours(MODULE):
        return 0, 0
    if not FILE.exists():
        modules.insert(MODULE)
    with FILE.open("r+b", buffering=0) as file:
        file.write(str(FREE_MIB + FREE_MIB_PER_PAIR * pairs).encode())
        file.seek(0)
        pages, blocks = file.read(48).split()
    return int(pages), int(blocks)
