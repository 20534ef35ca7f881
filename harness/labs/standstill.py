# SPDX-License-Identifier: GPL-2.0-only
"""Notices that the virtual clock of a uml lab stands still, and which program is the reason.

Computing takes no virtual time, so a program that never waits stops the clock for all others, and
nothing in the lab can say so: none of it comes to run. Therefore the host looks into the memory of
the lab's processes. Each has, at the end of its address space, its vDSO, below that the page of
the clock (lab/kernel/patches/0011), and below that the end of its stack with its arguments.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import time
from collections.abc import Callable, Mapping

PAGE = 4096
CLOCK_PAGE = 0x7F7FFFE000
# Linux's execve() leaves there: auxiliary vector, random bytes, platform, arguments, environment,
# the program's file. The vector's last entry (AT_PLATFORM, AT_NULL) says where the platform is.
STACK_PAGE = CLOCK_PAGE - PAGE
PLATFORM = re.compile(rb"\x0f\0{7}(.{8})\0{16}", re.DOTALL)
ENVIRONMENT = re.compile(rb"[A-Za-z_]\w*=")
CLOCK = struct.Struct("<3Q")  # of struct vdso_clock: now, last, mono [ns]
LOOK_S = 1.0
STILL_S = 6.0
# With less computing it is the host that lets the lab wait, or a program that only begins.
COMPUTED_S = 4.0
MOST_SHOWN = 60

Ticks = Mapping[int, int]


class StandstillWatch:
    """Watches one lab: call look() often.

    Args:
        ticks: the lab's processes, and the clock ticks of processor time that each has used.
        tick_s: how long a tick is [s].
    """

    def __init__(self, ticks: Callable[[], Ticks], tick_s: float) -> None:
        self._ticks = ticks
        self._tick_s = tick_s
        self._looked = time.monotonic()
        self._since = self._looked
        self._before: Ticks = {}
        self._clock_s: float | None = None
        self._told = False

    def look(self) -> str:
        """That time stands still, and why, in a sentence, the first time; else nothing."""
        now = time.monotonic()
        if self._told or now - self._looked < LOOK_S:
            return ""
        self._looked = now
        ticks = self._ticks()
        clock_s = clock_of(ticks)
        if clock_s is None or clock_s != self._clock_s:
            self._clock_s, self._since, self._before = clock_s, now, ticks
            return ""
        used = growth(ticks, self._before)
        if now - self._since < STILL_S or sum(used.values()) * self._tick_s < COMPUTED_S:
            return ""
        self._told = True
        program = busiest(used) or "that runs"
        return (
            f"virtual time stands still at {clock_s:.3f} s, because the program {program} computes "
            "without waiting; press Ctrl-C to end it"
        )


def look_into(ticks: Ticks, before: Ticks) -> tuple[float, str]:
    """The lab's clock [s], and the program that has computed most; 0 and "" where there is none."""
    used = {pid: count for pid, count in growth(ticks, before).items() if count}
    return clock_of(ticks) or 0.0, busiest(used)


def growth(ticks: Ticks, before: Ticks) -> dict[int, int]:
    """What each process has used since an earlier look."""
    return {pid: count - before.get(pid, 0) for pid, count in ticks.items()}


def busiest(used: Ticks) -> str:
    """The command of the process that has used most; "" where none has arguments."""
    order = sorted(used, key=used.__getitem__, reverse=True)
    return next(filter(None, map(read_command, order)), "")


def clock_of(ticks: Ticks) -> float | None:
    """The lab's clock as any of its processes reads it."""
    return next(filter(None, map(read_clock_s, ticks)), None)


def read_clock_s(pid: int) -> float | None:
    """The lab's monotonic clock [s], as a process of it would read it; None where it has not."""
    page = read_page(pid, CLOCK_PAGE)
    if not page:
        return None
    now, last, mono = CLOCK.unpack_from(page)
    return float(mono + now - last) / 1e9


def read_command(pid: int) -> str:
    """A process's arguments, shortened, as they fit in a sentence; "" where there are none."""
    page = read_page(pid, STACK_PAGE)
    found = PLATFORM.search(page)
    begin = int.from_bytes(found[1], "little") - STACK_PAGE if found else PAGE
    _, *words = page[begin:].rstrip(b"\0").split(b"\0")
    arguments = itertools.takewhile(lambda word: not ENVIRONMENT.match(word), words)
    text = " ".join(b" ".join(arguments).decode(errors="replace").split())
    if not text.isprintable() or "\N{REPLACEMENT CHARACTER}" in text:
        return ""  # a process may write what it likes there, and this goes to a terminal
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def read_page(pid: int, address: int) -> bytes:
    """A page of a process's memory; nothing where it has none there, or has ended."""
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(memory, PAGE, address)
        finally:
            os.close(memory)
    except OSError:
        return b""
