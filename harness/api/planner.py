# SPDX-License-Identifier: GPL-2.0-only
"""The trials of an experiment that a run wants, and all others: before and after any build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from harness.api.kernels import not_building, not_refusing
from harness.design.experiment import Design
from harness.design.shard import Shard
from harness.design.trials import Kernels, PlannedTrial, chosen, planned
from harness.labs.layers import Layer
from plan.plan import Plan


class LayersOf(Protocol):
    """The packages that a plan needs; build: False makes none."""

    def __call__(self, plan: Plan, *, build: bool) -> Layer | None: ...


@dataclass(frozen=True, kw_only=True)
class Planner:
    """What the trials of an experiment are made of.

    Attributes:
        design, path, seeds, code: as of planned().
        only: FACTOR=LEVEL[,LEVEL...] each.
        kernels: of the trials; each is built when it is first needed.
        layers_of: the packages of the trials.
        shard: the part of the trials that is wanted; None: all.
    """

    design: Design
    path: Path
    only: Sequence[str]
    seeds: int | None
    code: str
    kernels: Kernels
    layers_of: LayersOf
    shard: Shard | None

    def unbuilt(self) -> tuple[list[PlannedTrial], list[PlannedTrial]]:
        """The trials that are wanted, and all of the experiment; builds nothing.

        Raises:
            UsageError: as planned(); what is refused of a kernel only if a wanted trial has it.
        """
        every = self._rest()
        wanted = chosen(self.design, self.path, every, self.only)
        if self.only and not all(trial.is_ready for trial in wanted):
            wanted = self._planned(self.only, not_building(self.kernels), build=False)
        return self._of_shard(wanted), every

    def built(self) -> tuple[list[PlannedTrial], list[PlannedTrial]]:
        """The same, when the kernels and packages of those that are wanted have been built.

        Shards are merged by the list of all trials, so a shard needs the names of all.
        """
        if not self.only or self.shard:
            every = self._planned((), self.kernels, build=True)
            return self._of_shard(chosen(self.design, self.path, every, self.only)), every
        return self._planned(self.only, self.kernels, build=True), self._rest()

    def _rest(self) -> list[PlannedTrial]:
        """All trials of the experiment, of which nothing is built."""
        among = not_refusing if self.only and not self.shard else not_building
        return self._planned((), among(self.kernels), build=False)

    def _planned(self, only: Sequence[str], kernels: Kernels, *, build: bool) -> list[PlannedTrial]:
        layers = partial(self.layers_of, build=build)
        return planned(self.design, self.path, only, self.seeds, self.code, kernels, layers)

    def _of_shard(self, trials: list[PlannedTrial]) -> list[PlannedTrial]:
        return self.shard.of(trials) if self.shard else trials
