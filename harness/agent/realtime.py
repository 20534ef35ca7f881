# SPDX-License-Identifier: GPL-2.0-only
"""What an exact clock gives for nothing and others do not, watched during a trial.

A thread sleeps STEP_S at a time and notes how late it wakes: a machine that stops for a
while (its host is busy, or its own processors are) shows there, whatever it was doing.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Self

from harness.agent.losses import softnet

# A departure later than this is a fault and its frame is dropped; what is below is counted,
# and judged by the harness.
LATE_TOLERANCE_NS = 1_000_000_000
STEP_S = 0.05


class Watch:
    """Watches the machine for the duration of a `with`; `summary` tells afterwards."""

    def __init__(self) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._stalls, daemon=True)
        self._late_ns: list[int] = []
        self.summary: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._before = (softnet()[1], processor(), clocks_ns())
        self._thread.start()
        return self

    def _stalls(self) -> None:
        while True:
            begin = time.monotonic_ns()
            if self._end.wait(STEP_S):
                return
            self._late_ns.append(time.monotonic_ns() - begin - int(STEP_S * 1e9))

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        squeezes, cpu, clock_ns = self._before
        late = sorted(self._late_ns)
        spent = [b - a for a, b in zip(cpu, processor(), strict=True)]
        busy, idle, steal = spent
        self.summary = {
            "time_squeezes": softnet()[1] - squeezes,
            "busy_fraction": (busy + steal) / max(1, busy + idle + steal),
            "steal_fraction": steal / max(1, busy + idle + steal),
            "clock_step_ns": clocks_ns() - clock_ns,
            "stall_max_ns": late[-1] if late else None,
            "stall_p99_ns": late[len(late) * 99 // 100] if late else None,
        }


def processor() -> tuple[int, int, int]:
    """Ticks of all processors together: busy, idle, taken by the host."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, words[:8])
    return user + nice + system + irq + softirq, idle + iowait, steal


def clocks_ns() -> int:
    """How far the wall clock is from the monotonic one: changes when the wall clock is set."""
    return time.time_ns() - time.monotonic_ns()
