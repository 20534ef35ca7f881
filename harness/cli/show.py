# SPDX-License-Identifier: GPL-2.0-only
"""What is said of a campaign: its progress while it runs, and --json when it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from harness.design.plan import Trial


class Watcher:
    """Follows a campaign on standard error: bars on a terminal, a line a trial elsewhere."""

    def __init__(self, trials: Sequence[Trial], done: int) -> None:
        self.console = Console(stderr=True)
        self.total = len(trials)
        self.finished = done
        self.begin = time.monotonic()
        self._started: dict[str, float] = {}
        self._bars: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.all = self.progress.add_task("trials", total=self.total, completed=done)

    def __enter__(self) -> Watcher:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:  # elsewhere it leaves an empty line
            self.progress.stop()

    def __call__(self, what: str, trial: Trial, seconds: float) -> None:
        with self._lock:
            {
                "begin": self._begin,
                "progress": self._go,
                "again": self._again,
                "end": self._end,
                "failed": self._failed,
            }[what](trial, seconds)

    def say(self, text: str) -> None:
        """A line that is about no trial."""
        self.console.print(Text(text), soft_wrap=True)

    def _begin(self, trial: Trial, _: float) -> None:
        self._drop(trial)  # begun again: its worker was lost
        self._started[trial.name] = time.monotonic()
        total = float(trial.plan["workload"]["duration_s"])
        self._bars[trial.name] = self.progress.add_task(describe(trial), total=int(total))

    def _go(self, trial: Trial, seconds: float) -> None:
        if trial.name in self._bars:
            self.progress.update(self._bars[trial.name], completed=seconds)

    def _again(self, trial: Trial, _: float) -> None:
        self._drop(trial)
        self._say(f"{describe(trial)}: failed; once more")

    def _count(self, trial: Trial) -> None:
        self.finished += 1
        self._drop(trial)
        self.progress.update(self.all, completed=self.finished)

    def _end(self, trial: Trial, virtual_s: float) -> None:
        self._count(trial)
        now = time.monotonic()
        wall_s = now - self._started.pop(trial.name, now)
        self._say(f"{describe(trial)}: {virtual_s:.0f} virtual s in {wall_s:.1f} s")

    def _failed(self, trial: Trial, _: float) -> None:
        self._count(trial)
        self._say(f"{describe(trial)}: failed")

    def _drop(self, trial: Trial) -> None:
        bar = self._bars.pop(trial.name, None)
        if bar is not None:
            self.progress.remove_task(bar)

    def _say(self, text: str) -> None:
        if not self.console.is_terminal:
            wall = time.monotonic() - self.begin
            left = wall / max(1, self.finished) * (self.total - self.finished)
            line = f"{self.finished}/{self.total}  {text}; about {left:.0f} s left"
            self.console.print(Text(line), soft_wrap=True)


def describe(trial: Trial) -> str:
    """A trial in a few words."""
    return " ".join(str(level) for level in trial.factors.values()) + f" seed {trial.plan['seed']}"


def why_invalid(document: Mapping[str, Any]) -> str:
    """An invalid trial and the checks that failed, with what the values of one do not say."""
    failed = [
        check["name"] + (f" ({check['why']})" if check.get("why") else "")
        for check in document["checks"]
        if not check["ok"]
    ]
    return f"{document['trial']}: {', '.join(failed)}"


def json_line(document: Mapping[str, Any]) -> dict[str, Any]:
    """The object that --json prints for a trial."""
    return {
        "trial": document["trial"],
        "factors": document["factors"],
        "seed": document["seed"],
        "efficiency": document["metrics"]["efficiency"],
        "fairness": document["metrics"]["fairness"],
        "valid": document["valid"],
        "checks": document["checks"],
        "virtual_s": document["virtual_s"],
        "wall_s": document["wall_s"],
        "cpu_s": document["cpu_s"],
        "paper": document["paper"],
    }
