# SPDX-License-Identifier: GPL-2.0-only
"""Waits until a moment of the lab's monotonic clock; exact to the nanosecond in virtual time."""

from __future__ import annotations

import ctypes
import os
import time

NS_PER_S = 1_000_000_000
# The kernel rounds a timer up to a multiple of a step, counted from its boot. The step grows with
# the timer's length. With 1000 ticks per second, it is 64 ms from 0.5 s on, 512 ms from 4 s on,
# and 4.096 s from 33 s to 4.4 minutes. All steps divide 512 s, also with 250 or 100 ticks.
TIMER_GRAIN_NS = 512 * NS_PER_S
PR_SET_TIMERSLACK = 29  # linux/prctl.h


def wake_exactly() -> None:
    """Let this process and its children wake at exactly the requested nanosecond.

    By default, Linux may wake a process up to 50 us late, together with the next timer in this
    time. Then the end of a wait would depend on other timers in the lab.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_TIMERSLACK, 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "PR_SET_TIMERSLACK")


def sleep_until(moment_ns: int) -> None:
    """Sleep until CLOCK_MONOTONIC is `moment_ns`; return at once if that moment has passed.

    sleep() rounds up to whole nanoseconds. So this function subtracts half a nanosecond. Otherwise,
    the rounding of a float could add a nanosecond, depending on the time of the call.
    """
    time.sleep(max(0, moment_ns - time.monotonic_ns() - 0.5) / 1e9)


def whole_second() -> int:
    """Sleep until the clock shows a whole second; return the time [ns].

    The kernel rounds times to microseconds and ticks. After this wait, it rounds them alike in each
    run of the same trial.
    """
    return _whole(NS_PER_S)


def timers_alike() -> int:
    """Sleep until the next multiple of TIMER_GRAIN_NS; return it [ns].

    The kernel rounds timers alike after each multiple. So a repeated SYN, a timeout of a stock
    sender and an adaptive queue wait equally long in each trial, whatever its position in its lab.
    A wait in virtual time costs nothing.
    """
    return _whole(TIMER_GRAIN_NS)


def _whole(grain_ns: int) -> int:
    at_ns = -(-time.monotonic_ns() // grain_ns) * grain_ns
    sleep_until(at_ns)
    return at_ns
