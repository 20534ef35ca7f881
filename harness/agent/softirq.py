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
    if "time-travel=" not in Path("/proc/cmdline").read_text():
        return
    for comm in Path("/proc").glob("[0-9]*/comm"):
        if comm.read_text().strip() == THREAD:
            os.sched_setscheduler(int(comm.parent.name), os.SCHED_FIFO, os.sched_param(PRIORITY))
            return
    raise RuntimeError(f"this kernel has no thread {THREAD}")
