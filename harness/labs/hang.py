# SPDX-License-Identifier: GPL-2.0-only
"""Tells a lab that hangs from one that a busy host lets wait.

The measure is the processor time that the lab has had since its last sign of life: on a host
that gives it little, a lab is slow for any length of time and does not hang. One that spins,
on its clock for instance, has its processor time and makes nothing of it. One that waits for
what never comes uses none; only that is told by the host's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_CPU_S = 600.0
HANG_IDLE_S = 1800.0
# Less than this is no computing: a real-time lab's timers take more in the time of an hour.
IDLE_CPU_S = 1.0
# Adding up a lab's processor time reads all of /proc.
LOOK_S = 1.0
# What of the time between two looks counts: an owner that was held up itself proves nothing.
LONGEST_S = 10.0


class HangWatch:
    """Watches one lab. Call alive() at each sign of life, and verdict() often.

    Args:
        cpu_s: the lab's processor time so far [s].
        limit_cpu_s: processor time without a sign of life after which it hangs.
        limit_idle_s: wall time after which it does, without a sign of life and processor time.
    """

    def __init__(
        self, cpu_s: Callable[[], float], limit_cpu_s: float, limit_idle_s: float = HANG_IDLE_S
    ) -> None:
        self._cpu_s = cpu_s
        self._limit_cpu_s = limit_cpu_s
        self._limit_idle_s = limit_idle_s
        self.alive()

    def alive(self) -> None:
        """The lab has given a sign of life; what it uses is counted from the next look on."""
        self._looked = time.monotonic()
        self._silent_s = 0.0
        self._base_cpu_s: float | None = None

    def verdict(self) -> str:
        """Why the lab counts as hung; nothing while it does not."""
        passed_s = time.monotonic() - self._looked
        if passed_s < LOOK_S:
            return ""
        self._looked += passed_s
        self._silent_s += min(passed_s, LONGEST_S)
        total_s = self._cpu_s()
        if self._base_cpu_s is None:
            self._base_cpu_s = total_s
        used_s = total_s - self._base_cpu_s
        if used_s > self._limit_cpu_s:
            return f"the lab computed for {used_s:.0f} s and said nothing: hung"
        if used_s < IDLE_CPU_S and self._silent_s > self._limit_idle_s:
            return f"the lab neither computed nor said anything for {self._silent_s:.0f} s: hung"
        return ""
