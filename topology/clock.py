# SPDX-License-Identifier: GPL-2.0-only
"""Waits that end at a moment of the lab's monotonic clock, to the nanosecond in virtual time."""

from __future__ import annotations

import ctypes
import os
import time

NS_PER_S = 1_000_000_000
# The kernel rounds timers below 41 s to up to 64 of its ticks of 10 ms, counted from its start:
# alike every 16 s.
TIMER_GRAIN_NS = 16 * NS_PER_S
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

    What sets timers of its own, as a queue that adapts, then does so alike in every trial.
    """
    return _whole(TIMER_GRAIN_NS)


def _whole(grain_ns: int) -> int:
    at_ns = -(-time.monotonic_ns() // grain_ns) * grain_ns
    sleep_until(at_ns)
    return at_ns
