# SPDX-License-Identifier: GPL-2.0-only
"""A part of an experiment's trials, for a job of its own: the third of a hundred is 3/100."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.design.trials import PlannedTrial
from plan.errors import UsageError
from plan.plan import Level

MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Which part, counted from 1, and of how many."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def folder(self) -> str:
        """Its folder's name: those of one experiment are sorted as their numbers are."""
        return f"{self.number:0{len(str(self.count))}d}-of-{self.count}"

    def of(self, trials: Sequence[PlannedTrial]) -> list[PlannedTrial]:
        """Its trials, in their order.

        They are drawn by a hash, so that all shards take about the same time: of every hundredth
        trial of a hundred cells, one shard would have those of the slowest cell.
        """
        return [trials[place] for place in sorted(drawn(trials)[self.number - 1 :: self.count])]


class Drawn(Protocol):
    """A trial by what it is drawn by."""

    @property
    def factors(self) -> Mapping[str, Level]: ...
    @property
    def seed(self) -> int | None: ...


def drawn(trials: Sequence[Drawn]) -> list[int]:
    """Places of trials in the order of the draw; the first goes to the first shard, and so on."""
    return sorted(range(len(trials)), key=lambda place: place_of(trials[place]))


def place_of(trial: Drawn) -> str:
    """Where a trial is in the draw; on every machine, and with every version of the software."""
    text = f"{sorted(trial.factors.items())} {trial.seed}"
    return hashlib.sha256(text.encode()).hexdigest()


def parse(text: str) -> Shard:
    """The shard that somebody wrote as 3/100.

    Raises:
        UsageError: what is allowed.
    """
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    number, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= count <= MOST:
        raise UsageError(
            f"--shard {text}: write NUMBER/COUNT, as 3/100; NUMBER is 1 to COUNT,"
            f" and COUNT at most {MOST}"
        )
    return Shard(number=number, count=count)
