# SPDX-License-Identifier: GPL-2.0-only
"""Waits that end at a moment of the lab's monotonic clock, to the nanosecond in virtual time."""

from __future__ import annotations

import ctypes
import os
import time

NS_PER_S = 1_000_000_000
# The kernel rounds a timer up, the more the longer it is, to a multiple counted from its start.
# With 1000 ticks a second these are 64 ms from half a second on, 512 ms from 4 s on, and 4.096 s
# from 33 s to 4.4 minutes. All are alike every 512 s, and so they are with 250 and 100 ticks.
TIMER_GRAIN_NS = 512 * NS_PER_S
PR_SET_TIMERSLACK = 29  # linux/prctl.h


def wake_exactly() -> None:
    """Let this process, and all that it starts, wake on the nanosecond that it asked for.

    Linux may wake a process up to 50 us late, to spare a timer: with the next thing that happens
    in that time. So a wait's end depended on whatever else went on in the lab.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_TIMERSLACK, 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "PR_SET_TIMERSLACK")


def sleep_until(moment_ns: int) -> None:
    """Sleep until CLOCK_MONOTONIC says `moment_ns`; at once when that is past.

    sleep() rounds up to whole nanoseconds: half a one less, or the rounding of a float would
    make it, by when it is called, one too many.
    """
    time.sleep(max(0, moment_ns - time.monotonic_ns() - 0.5) / 1e9)


def whole_second() -> int:
    """Sleep until the clock shows a whole second; returns it [ns].

    The kernel rounds times to microseconds and to ticks: whatever ran before, the same trial
    is then rounded alike.
    """
    return _whole(NS_PER_S)


def timers_alike() -> int:
    """Sleep until the next moment at which timers are rounded as at the last; returns it [ns].

    A SYN that is sent again, a timeout of a stock sender and a queue that adapts then wait alike in
    every trial, wherever it stands in its lab. To wait in virtual time costs nothing.
    """
    return _whole(TIMER_GRAIN_NS)


def _whole(grain_ns: int) -> int:
    at_ns = -(-time.monotonic_ns() // grain_ns) * grain_ns
    sleep_until(at_ns)
    return at_ns
