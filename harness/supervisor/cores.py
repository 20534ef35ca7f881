# SPDX-License-Identifier: GPL-2.0-only
"""Which core a lab keeps to, where it keeps to one.

The processes of User-Mode Linux run strictly one after the other, and each time the next one is
on another core that one has to be woken: a small trial took 1.9 s of processor time, and 1.0 to
1.5 s on one core. A lab that shares its core moves when one becomes free that has fewer.
"""

from __future__ import annotations

import _socket  # socket itself takes more memory
import itertools
import os
import select
import time

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
PLACE = "\0cellbed-core-{}-{}"
MOST_LABS = 256  # on one core
BIRTH_S = 0.1  # a process that is being made is seen by then
MOVE_S = 5.0  # how often a lab that shares its core looks for another


class Place:
    """A core, and how many labs have it before this one; it is kept by a socket's name."""

    def __init__(self, core: int, rank: int, name: _socket.socket) -> None:
        self.core = core
        self.rank = rank
        self.name = name


def wait(ends: list[int], pid: int, place: Place | None, allowed: list[int]) -> None:
    """Until one of these can be read; meanwhile a lab on a shared core moves if it can."""
    while place and place.rank and not select.select(ends, [], [], MOVE_S)[0]:
        if better := find_place(allowed, place.rank):
            move(pid, better.core)
            place.name.close()
            place = better
    select.select(ends, [], [])


def take_core(allowed: list[int]) -> Place | None:
    """Keep to the core that the fewest labs have; the lab's until the place's socket is gone."""
    place = find_place(allowed, MOST_LABS)
    if place:
        os.sched_setaffinity(0, {place.core})
    return place


def find_place(allowed: list[int], labs: int) -> Place | None:
    """A place on the core that the fewest labs have, if these are fewer than so many.

    A place on a core is the name of a socket: the kernel gives it once and takes it back
    when the lab ends, whatever ends it. Labs of another network namespace are not seen;
    among cores that look equal chance decides, so that those do not all meet on one.
    """
    cores = sorted(allowed, key=lambda _: os.urandom(8))
    cores.sort(key=sibling_rank)
    for rank, core in itertools.product(range(labs), cores):
        name = _socket.socket(_socket.AF_UNIX)
        try:
            name.bind(PLACE.format(core, rank))
        except OSError:
            name.close()
            continue
        return Place(core=core, rank=rank, name=name)
    return None


def move(pid: int, core: int) -> None:
    """A process and all that come of it, also those being born: they begin on the old core."""
    moved = True
    while moved:
        moved = False
        time.sleep(BIRTH_S)
        for one in descent(pid):
            try:
                if os.sched_getaffinity(one) != {core}:
                    os.sched_setaffinity(one, {core})
                    moved = True
            except OSError:  # it has ended
                pass


def descent(pid: int) -> list[int]:
    """A process, its children, and theirs."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has ended
            pass
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def sibling_rank(core: int) -> int:
    """Which hardware thread of its core this is: the second ones are taken after all first."""
    try:
        with open(SIBLINGS.format(core), encoding="ascii") as siblings:
            return numbers(siblings.read()).index(core)
    except (OSError, ValueError):
        return 0


def numbers(text: str) -> list[int]:
    """A kernel's list of numbers, such as "0,4-6"."""
    found: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
