# SPDX-License-Identifier: GPL-2.0-only
"""How far a campaign is, while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

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
from harness.left import Left
from plan.plan import level_name


class LeftColumn(ProgressColumn):
    """The time to the end. Rich's own forgets what is older than 30 s: whole trials are."""

    def __init__(self, left: Left) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Text:
        left_s = self._left.left_s() if task.fields.get("whole") else estimate_left_s(task)
        return Text("" if left_s is None else str(timedelta(seconds=int(left_s))))


class ProgressDisplay:
    """Follows a campaign on standard error: bars on a terminal, a line a trial elsewhere.

    Args:
        trials: all that the campaign wants.
    """

    def __init__(self, trials: Sequence[PlannedTrial]) -> None:
        self.console = Console(stderr=True)
        self.trials = {trial.name: trial for trial in trials}
        self.finished = 0
        self._starts: dict[str, float] = {}
        self._bars: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self._left = Left()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            LeftColumn(self._left),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.all = self.progress.add_task("trials", total=len(trials), whole=True)

    def __enter__(self) -> ProgressDisplay:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:  # elsewhere it leaves an empty line
            self.progress.stop()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._left.take(event, time.monotonic())
            match event:
                case CampaignStarted():
                    self._found(len(event.finished))
                case TrialStarted():
                    self._trial_started(self.trials[event.trial])
                case TrialProgress() if event.trial in self._bars:
                    self.progress.update(self._bars[event.trial], completed=event.virtual_s)
                    self._count(0)
                case TrialEnded():
                    self._trial_ended(event)
                case TrialFailed():
                    self._trial_failed(event)
                case Message():
                    self.console.print(Text(event.text), soft_wrap=True)

    def _found(self, trials: int) -> None:
        """Those that have a record already take no time of this command's."""
        self.finished = trials
        self.progress.reset(self.all, completed=trials)

    def _count(self, more: int) -> None:
        """So many more have ended; those under way count in part."""
        self.finished += more
        bars = self._bars.values()
        begun = sum(task.percentage for task in self.progress.tasks if task.id in bars) / 100
        self.progress.update(self.all, completed=self.finished + begun)

    def _trial_started(self, trial: PlannedTrial) -> None:
        self._drop(trial.name)  # started again: its worker was lost
        self._starts[trial.name] = time.monotonic()
        total = trial.plan.workload.duration_s
        self._bars[trial.name] = self.progress.add_task(describe(trial), total=int(total))

    def _trial_ended(self, event: TrialEnded) -> None:
        self._drop(event.trial)
        self._count(1)
        now = time.monotonic()
        wall_s = now - self._starts.pop(event.trial, now)
        self._say(event.trial, f"ended after {wall_s:.1f} s ({event.virtual_s:.0f} virtual s)")

    def _trial_failed(self, event: TrialFailed) -> None:
        self._drop(event.trial)
        self._count(not event.retried)
        self._say(event.trial, "failed; it runs again" if event.retried else "failed")

    def _drop(self, name: str) -> None:
        bar = self._bars.pop(name, None)
        if bar is not None:
            self.progress.remove_task(bar)

    def _say(self, name: str, text: str) -> None:
        """A line about a trial, where there are no bars."""
        if not self.console.is_terminal:
            left_s = self._left.left_s()
            left = "" if left_s is None else f"; about {left_s:.0f} s left"
            said = f"{describe(self.trials[name])}: {text}{left}"
            line = f"{self.finished}/{len(self.trials)}  {said}"
            self.console.print(Text(line), soft_wrap=True)


def estimate_left_s(task: Task) -> float | None:
    """The time [s] that a trial will take to its end if it goes on as since its start.

    None as long as nothing has been done.
    """
    if task.completed <= 0 or task.elapsed is None or task.remaining is None:
        return None
    return max(0.0, task.remaining) * task.elapsed / task.completed


def describe(trial: PlannedTrial) -> str:
    """A trial in a few words."""
    return " ".join(map(level_name, trial.factors.values())) + f" seed {trial.plan.seed}"
