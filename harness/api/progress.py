# SPDX-License-Identifier: GPL-2.0-only
"""How far a campaign is, while it runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.design.trials import PlannedTrial
from harness.events import (
    CampaignStarted,
    Event,
    Message,
    TrialEnded,
    TrialFailed,
    TrialProgress,
    TrialStarted,
)
from harness.host.plain import only_lines
from harness.left import Left
from plan.plan import level_name

if TYPE_CHECKING:
    from harness.api.bars import Bars


class ProgressDisplay:
    """Follows a campaign on standard error: bars on a terminal, a line a trial elsewhere.

    Args:
        trials: all that the campaign wants.
    """

    def __init__(self, trials: Sequence[PlannedTrial]) -> None:
        self.trials = {trial.name: trial for trial in trials}
        self.finished = 0
        self._starts: dict[str, float] = {}
        self._lock = threading.Lock()
        self._left = Left()
        self._shown = Lines() if only_lines(sys.stderr) else bars(len(trials), self._left)

    def __enter__(self) -> ProgressDisplay:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._left.take(event, time.monotonic())
            match event:
                case CampaignStarted():
                    self._found(len(event.finished))
                case TrialStarted():
                    self._trial_started(self.trials[event.trial])
                case TrialProgress():
                    self._shown.go_on(event.trial, event.virtual_s, self.finished)
                case TrialEnded():
                    self._trial_ended(event)
                case TrialFailed():
                    self._trial_failed(event)
                case Message():
                    self._shown.say(event.text)

    def _found(self, trials: int) -> None:
        """Those that have a record already take no time of this command's."""
        self.finished = trials
        self._shown.found(trials)

    def _count(self, more: int) -> None:
        """So many more have ended."""
        self.finished += more
        self._shown.count(self.finished)

    def _trial_started(self, trial: PlannedTrial) -> None:
        self._shown.drop(trial.name)  # started again: its worker was lost
        self._starts[trial.name] = time.monotonic()
        total = trial.plan.workload.duration_s
        self._shown.begin(trial.name, describe(trial), int(total))

    def _trial_ended(self, event: TrialEnded) -> None:
        self._shown.drop(event.trial)
        self._count(1)
        now = time.monotonic()
        wall_s = now - self._starts.pop(event.trial, now)
        self._say(event.trial, f"ended after {wall_s:.1f} s ({event.virtual_s:.0f} virtual s)")

    def _trial_failed(self, event: TrialFailed) -> None:
        self._shown.drop(event.trial)
        self._count(not event.retried)
        self._say(event.trial, "failed; it runs again" if event.retried else "failed")

    def _say(self, name: str, text: str) -> None:
        """A line about a trial, where there are no bars."""
        if not self._shown.has_bars:
            left_s = self._left.left_s()
            left = "" if left_s is None else f"; about {left_s:.0f} s left"
            said = f"{describe(self.trials[name])}: {text}{left}"
            self._shown.say(f"{self.finished}/{len(self.trials)}  {said}")


class Lines:
    """What stands for bars where only lines are read: nothing but what is said."""

    has_bars = False

    def start(self) -> None:
        """Show nothing."""

    def stop(self) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Write a line."""
        print(text, file=sys.stderr)

    def found(self, finished: int) -> None:
        """Show nothing."""

    def count(self, finished: int) -> None:
        """Show nothing."""

    def begin(self, name: str, text: str, total_s: int) -> None:
        """Show nothing."""

    def go_on(self, name: str, virtual_s: float, finished: int) -> None:
        """Show nothing."""

    def drop(self, name: str) -> None:
        """Show nothing."""


def bars(trials: int, left: Left) -> Bars:
    """Bars; rich, which draws them, takes time to be imported."""
    from harness.api.bars import Bars

    return Bars(trials, left)


def describe(trial: PlannedTrial) -> str:
    """A trial in a few words."""
    return " ".join(map(level_name, trial.factors.values())) + f" seed {trial.plan.seed}"
