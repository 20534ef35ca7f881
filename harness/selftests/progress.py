# SPDX-License-Identifier: GPL-2.0-only
"""Tells a person who waits how far the tests are, and of each failure at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.selftests.outcome import Outcome
from harness.selftests.suite import Task

EACH_S = 10.0


class Progress:
    """Give it to suite.execute() as `told`, and its `lab_ended` as `lab_ended`.

    Args:
        total: how many runs there will be.
        labs: how many labs they need.
        say: called with a line.
    """

    def __init__(self, total: int, labs: int, say: Callable[[str], None]) -> None:
        self.total, self.say = total, say
        self.ended = self.failed = 0
        self.said = time.monotonic()
        if labs < total:
            say(f"{total} runs in {labs} labs; the runs of a lab are counted when the lab ends")

    def __call__(self, task: Task, number: int, outcome: Outcome) -> None:
        self.ended += 1
        if outcome.verdict == "fail":
            self.failed += 1
            where = f"kernel {task.row.kernel}, {task.row.clock} clock"
            again = f", repetition {number}" if number > 1 else ""
            self.say(f"not ok {task.test.name} ({where}{again}): {outcome.why}")

    def lab_ended(self) -> None:
        """Tell how many runs have ended, unless that was told a moment ago."""
        if time.monotonic() - self.said >= EACH_S or self.ended == self.total:
            self.said = time.monotonic()
            self.say(f"{self.ended} of {self.total} runs have ended, {self.failed} failed")
