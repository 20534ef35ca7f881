# SPDX-License-Identifier: GPL-2.0-only
"""Lets the network go before every process, so that no packet waits for one in virtual time.

Softirq work that comes up while a process is to be woken is left to the kernel thread
ksoftirqd. That competes with the processes, and each clock reading of a process moves the
virtual clock: packets came out of their links up to 5 us late, a sixth of a LAN's round trip.
With a real-time priority the thread runs before any process does.
"""

from __future__ import annotations

import os
from pathlib import Path

PRIORITY = 1
THREAD = "ksoftirqd/0"


def go_first() -> None:
    """Give ksoftirqd a real-time priority, where the clock is virtual and the machine ours."""
    if virtual():
        os.sched_setscheduler(thread(), os.SCHED_FIFO, os.sched_param(PRIORITY))


def take_turns() -> None:
    """Let ksoftirqd compete with the processes again, as on any machine, where it went first."""
    if virtual():
        os.sched_setscheduler(thread(), os.SCHED_OTHER, os.sched_param(0))


def busy_s() -> float:
    """How long ksoftirqd has had the processor, by the lab's clock [s] (proc_pid_stat(5))."""
    after_name = Path("/proc", str(thread()), "stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def virtual() -> bool:
    """Is this lab's clock virtual?"""
    return "time-travel=" in Path("/proc/cmdline").read_text()


def thread() -> int:
    """The process ID of ksoftirqd.

    Raises:
        RuntimeError: there is none.
    """
    for comm in Path("/proc").glob("[0-9]*/comm"):
        if comm.read_text().strip() == THREAD:
            return int(comm.parent.name)
    raise RuntimeError(f"this kernel has no thread {THREAD}")
