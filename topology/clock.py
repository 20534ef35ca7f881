# SPDX-License-Identifier: GPL-2.0-only
"""Waits that end at a moment of the lab's monotonic clock, to the nanosecond in virtual time."""

from __future__ import annotations

import time

NS_PER_S = 1_000_000_000


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
    at_ns = -(-time.monotonic_ns() // NS_PER_S) * NS_PER_S
    sleep_until(at_ns)
    return at_ns
