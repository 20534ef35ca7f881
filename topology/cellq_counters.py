# SPDX-License-Identifier: GPL-2.0-only
"""Reads the few counters of a loaded cell queue that say whether packets are under way.

`cellq read` prints all of them. The end of a trial looks often, and a process costs 20 ms under
User-Mode Linux.
"""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Protocol

from topology import bpf
from topology.libcellq import CAUSES, Stats, VcStats

PINS = Path("/sys/fs/bpf/cellq")  # bpf/loader/pins.h
COPY_TRIES = 1000
COUNTER = struct.Struct("=Q")
VC_BYTES = ctypes.sizeof(VcStats)
DELIVERED = VcStats.frames.offset + CAUSES.index("delivered") * COUNTER.size


class Memory(Protocol):
    """Bytes that the kernel changes."""

    def __getitem__(self, part: slice, /) -> bytes: ...


def passed(name: str, vcs: int) -> tuple[int, int]:
    """Return the frames that a port has delivered, and those announced that it has not judged.

    Args:
        name: the name with which the port was loaded.
        vcs: the number of its VCs.

    Raises:
        OSError: no port of this name is loaded.
        RuntimeError: the counters change too fast to be read.
    """
    size = Stats.vc.offset + vcs * VC_BYTES
    with bpf.mapped(PINS / name / "stats", size) as memory:
        return counted(at_rest(memory, size))


def at_rest(memory: Memory, size: int) -> bytes:
    """Copy the first `size` bytes of a struct cellq_stats without a hook's write during the copy.

    Raises:
        RuntimeError: there was one during each of COPY_TRIES copies.
    """
    head = slice(Stats.generation.offset, Stats.generation.offset + COUNTER.size)
    for _ in range(COPY_TRIES):
        before, copy, after = memory[head], memory[:size], memory[head]
        if before == after and COUNTER.unpack(before)[0] % 2 == 0:
            return copy
    raise RuntimeError("the counters of a queue change too fast to be read")


def counted(stats: bytes) -> tuple[int, int]:
    """Return what passed() does, from the first bytes of a struct cellq_stats."""
    begins = range(Stats.vc.offset, len(stats), VC_BYTES)
    delivered = sum(COUNTER.unpack_from(stats, at + DELIVERED)[0] for at in begins)
    [announced] = COUNTER.unpack_from(stats, Stats.frames_announced.offset)
    [resolved] = COUNTER.unpack_from(stats, Stats.frames_resolved.offset)
    return delivered, announced - resolved
