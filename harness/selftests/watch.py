# SPDX-License-Identifier: GPL-2.0-only
"""Ends the lab of a selftest that works for too long, or whose virtual clock stands still.

A test's own limit is by the lab's clock, which may never come that far: computing takes no virtual
time. So the processor time of the host counts, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from harness.labs import Lab
from plan.errors import LabError

LOOK_S = 2.0
MANY = 100  # processes of this machine; one that forks without end has as many as it may
STILL_CPU_S = 120.0  # of computing, in which the virtual clock has not moved
end_all = threading.Event()  # set it to end all labs of this process


class Watch:
    """Give its look() to Lab.events().

    Args:
        limit_cpu_s: the most processor time that a test may use, the first with the boot [s].
        begun: how many tests have begun.
    """

    def __init__(self, lab: Lab, limit_cpu_s: float, begun: Callable[[], int]) -> None:
        self.lab = lab
        self.limit_cpu_s = limit_cpu_s
        self.begun = begun
        self._tests, self._begin_cpu_s = 1, 0.0
        self.cpu_s = 0.0
        self._looked = time.monotonic()
        self._clock_s = self._moved_cpu_s = 0.0

    def look(self) -> None:
        """Now and then, look at the lab.

        Raises:
            LabError: it has used its processor time, or stands still, or all labs are to end.
        """
        if end_all.is_set():
            raise LabError("Ctrl-C ended the lab")
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        self.cpu_s = max(self.cpu_s, self.lab.cpu_s())  # that of an ended lab is gone
        clock_s, program = self.lab.glance()
        if clock_s != self._clock_s:
            self._clock_s, self._moved_cpu_s = clock_s, self.cpu_s
        at = f"; the lab's clock is at {clock_s:.3f} s" if clock_s else ""
        most = f", and {program} computes most" if program else ""
        if (count := self.lab.processes()) > MANY:
            most += f"; it has {count} processes"
        if (tests := self.begun()) > self._tests:
            self._tests, self._begin_cpu_s = tests, self.cpu_s
        if (used_s := self.cpu_s - self._begin_cpu_s) > self.limit_cpu_s:
            raise LabError(
                f"it has used {used_s:.0f} s of processor time, more than "
                f"--limit {self.limit_cpu_s:g}{at}{most}"
            )
        still_s = self.cpu_s - self._moved_cpu_s
        if self.lab.exact and still_s > STILL_CPU_S:
            raise LabError(f"virtual time stood still for {still_s:.0f} s of computing{at}{most}")
