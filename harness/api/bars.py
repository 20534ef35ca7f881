# SPDX-License-Identifier: GPL-2.0-only
"""Bars of a campaign's trials on a terminal."""

from __future__ import annotations

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

from harness.left import Left


class LeftColumn(ProgressColumn):
    """The time to the end. Rich's own forgets what is older than 30 s: whole trials are."""

    def __init__(self, left: Left) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Text:
        left_s = self._left.left_s() if task.fields.get("whole") else estimate_left_s(task)
        return Text("" if left_s is None else str(timedelta(seconds=int(left_s))))


class Bars:
    """A bar for all trials and one for each trial under way, on standard error.

    Args:
        trials: how many the campaign wants.
        left: what knows the time to the end of all.
    """

    def __init__(self, trials: int, left: Left) -> None:
        self.console = Console(stderr=True)
        self._bars: dict[str, TaskID] = {}
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            LeftColumn(left),
            console=self.console,
            disable=not self.has_bars,
        )
        self.all = self.progress.add_task("trials", total=trials, whole=True)

    @property
    def has_bars(self) -> bool:
        """A notebook has none."""
        return self.console.is_terminal

    def start(self) -> None:
        self.progress.start()

    def stop(self) -> None:
        if self.has_bars:  # elsewhere it leaves an empty line
            self.progress.stop()

    def say(self, text: str) -> None:
        """A line beside the bars."""
        self.console.print(Text(text), soft_wrap=True)

    def found(self, finished: int) -> None:
        """So many were done before."""
        self.progress.reset(self.all, completed=finished)

    def count(self, finished: int) -> None:
        """So many have ended; those under way count in part."""
        bars = self._bars.values()
        begun = sum(task.percentage for task in self.progress.tasks if task.id in bars) / 100
        self.progress.update(self.all, completed=finished + begun)

    def begin(self, name: str, text: str, total_s: int) -> None:
        """A trial has begun."""
        self._bars[name] = self.progress.add_task(text, total=total_s)

    def go_on(self, name: str, virtual_s: float, finished: int) -> None:
        """A trial that has begun is so far."""
        if name in self._bars:
            self.progress.update(self._bars[name], completed=virtual_s)
            self.count(finished)

    def drop(self, name: str) -> None:
        """A trial is under way no more."""
        bar = self._bars.pop(name, None)
        if bar is not None:
            self.progress.remove_task(bar)


def estimate_left_s(task: Task) -> float | None:
    """The time [s] that a trial will take to its end if it goes on as since its start.

    None as long as nothing has been done.
    """
    if task.completed <= 0 or task.elapsed is None or task.remaining is None:
        return None
    return max(0.0, task.remaining) * task.elapsed / task.completed
