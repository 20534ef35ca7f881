# SPDX-License-Identifier: GPL-2.0-only
"""Lets the lab's own threads run before any process of a script. In the lab.

A thread that reads what a script says must run before the script says more elsewhere. And no thread
of this process may be held up by a script: the others would wait for Python's lock, which it has.
"""

from __future__ import annotations

import os
from contextlib import suppress

READER = 1
# Of the thread that tells of a storm, in which packets leave no time for others (softirq.py, and
# the module of lab/mininet/processor).
FIRST = 99


def before_all_others(priority: int = READER) -> None:
    """Give the calling thread a real-time priority, but not what it starts."""
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    with suppress(PermissionError):  # outside a lab, where tests run parts of it
        os.sched_setscheduler(0, policy, os.sched_param(priority))
