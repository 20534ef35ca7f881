# SPDX-License-Identifier: GPL-2.0-only
"""Runs a lab's kernel and ends all its processes when its owner goes, however that dies.

Usage: supervise.py CONTROL_FD one-core|all-cores COMMAND...

The owner holds the other end of CONTROL_FD, a pipe; its end closes when the owner
closes it or is killed. The lab runs in the supervisor's own session, so what is ended
is this session's process group and nothing else. Exit status: the command's own, or
128 + its signal.

one-core: the lab keeps to one core. The processes of User-Mode Linux run strictly one after
the other, and each time the next one is on another core that one has to be woken: a small
trial took 1.9 s of processor time, and 1.0 to 1.5 s on one core. A lab that shares its core moves
when one becomes free that has fewer.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import random
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NamedTuple

PR_SET_PDEATHSIG = 1
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
PLACE = "\0cellbed-core-{}-{}"
MOST_LABS = 256  # on one core
BIRTH_S = 0.1  # a process that is being made is seen by then
MOVE_S = 5.0  # how often a lab that shares its core looks for another


class Place(NamedTuple):
    """A core, and how many labs have it before this one; it is kept by a socket's name."""

    core: int
    rank: int
    name: socket.socket


def main() -> int:
    control_fd, cores, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    allowed = list(os.sched_getaffinity(0))
    place = take_core(allowed) if cores == "one-core" else None
    pid = start(command)
    pid_fd = os.pidfd_open(pid)
    wait([control_fd, pid_fd], pid, place, allowed)
    if not select.select([pid_fd], [], [], 0)[0]:
        os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    # User-Mode Linux leads a group of its own; a child just forked may outlive its end.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGTERM)  # children the kernel left behind
    return code if code >= 0 else 128 - code


def start(command: list[str]) -> int:
    """Start the lab's kernel, which ends when this process does, whatever ends it.

    The other processes of a lab end with its kernel: those of User-Mode Linux ask for the
    same signal, and the first process of a namespace takes all others along.
    """
    prctl = ctypes.CDLL(None).prctl
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == supervisor:  # else it is too late for the signal
            os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def wait(ends: list[int], pid: int, place: Place | None, allowed: list[int]) -> None:
    """Until one of these can be read; meanwhile a lab on a shared core moves if it can."""
    while place and place.rank and not select.select(ends, [], [], MOVE_S)[0]:
        if better := find_place(allowed, place.rank):
            move(os.getsid(pid), better.core)
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
    cores = random.sample(allowed, len(allowed))
    cores.sort(key=sibling_rank)
    for rank, core in itertools.product(range(labs), cores):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(PLACE.format(core, rank))
        except OSError:
            name.close()
            continue
        return Place(core=core, rank=rank, name=name)
    return None


def move(session: int, core: int) -> None:
    """All of a lab's processes, and those that were being born: they begin on the old core."""
    moved = True
    while moved:
        moved = False
        time.sleep(BIRTH_S)
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            with contextlib.suppress(OSError):  # it has ended
                if os.getsid(pid) == session and os.sched_getaffinity(pid) != {core}:
                    os.sched_setaffinity(pid, {core})
                    moved = True


def sibling_rank(core: int) -> int:
    """Which hardware thread of its core this is: the second ones are taken after all first."""
    try:
        siblings = Path(SIBLINGS.format(core)).read_text()
    except OSError:
        return 0
    return siblings.strip().replace("-", ",").split(",").index(str(core))


if __name__ == "__main__":
    sys.exit(main())
