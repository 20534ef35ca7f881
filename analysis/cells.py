# SPDX-License-Identifier: GPL-2.0-only
"""Cells: all trials of one set of levels, and how far their means are from the published.

A *cell* is named by the levels of the factors that its study says. What else a campaign varies
(an assumption, a stack) makes *variants*, each with a table of cells of its own.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from analysis.records import CampaignRecords, Trial, level_text
from analysis.replicates import left_the_same
from analysis.statistics import Estimate, estimate, rank_correlation
from analysis.study import Study
from plan.plan import Plan

Levels = Mapping[str, Sequence[object]]
"""Factor -> levels that are meant; a factor left out means all its levels."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """All trials of one set of levels, in the order of their seeds.

    metrics: name -> seed -> value, without the seeds that have none. published: the source's
    value of some responses. trials: the records; none of a cell that is a published one itself.
    """

    levels: Mapping[str, str]
    metrics: Mapping[str, Mapping[int, float]] = field(repr=False)
    published: Mapping[str, float] = field(default_factory=dict)
    planned: Plan | None = field(default=None, repr=False)
    trials: tuple[Trial, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The levels in one line."""
        return " ".join(self.levels.values())

    @property
    def plan(self) -> Plan:
        """That of its trials, which differ in seed and captures only; ValueError without one."""
        if self.planned is None:
            raise ValueError(f"no trial of the cell {self.name} has been run")
        return self.planned

    def values(self, metric: str) -> tuple[float, ...]:
        """A metric's values, of the trials that have one."""
        return tuple(self.metrics.get(metric, {}).values())

    @cached_property
    def one_record(self) -> bool:
        """Did several seeds leave the same record, so that they are one observation?"""
        return bool(self.trials) and left_the_same(self.trials)

    def estimate(self, metric: str) -> Estimate | None:
        """The mean of a metric over the trials that have it; None where none has.

        Seeds that left the same record give no interval.
        """
        values = self.values(metric)
        if not values:
            return None
        found = estimate(values)
        return replace(found, low=None, high=None) if self.one_record else found

    def mean(self, metric: str) -> float | None:
        """The mean alone."""
        values = self.values(metric)
        return math.fsum(values) / len(values) if values else None

    def difference(self, response: str) -> float | None:
        """Measured mean less the published value; None where one of them is not known."""
        mean, published = self.mean(response), self.published.get(response)
        return None if mean is None or published is None else mean - published

    def matches(self, where: Levels) -> bool:
        """Has it one of the levels listed for each factor?"""
        return all(
            self.levels.get(factor) in {level_text(level) for level in wanted}
            for factor, wanted in where.items()
        )


@dataclass(frozen=True, kw_only=True)
class Distance:
    """How far the cells of one level of `by` are from the published, in one response.

    `rank_correlation` is Spearman's over the cells, None with fewer than 3 or without
    variation; the differences have the response's unit.
    """

    group: str
    response: str
    cells: int
    mean_absolute_difference: float
    mean_difference: float
    largest_difference: float
    rank_correlation: float | None


def cells_of(trials: Iterable[Trial]) -> tuple[Cell, ...]:
    """The cells of some trials, in the order of the trials."""
    groups: dict[tuple[tuple[str, str], ...], list[Trial]] = {}
    for trial in trials:
        groups.setdefault(tuple(trial.factors.items()), []).append(trial)
    return tuple(map(_cell, groups.values()))


def _cell(trials: Sequence[Trial]) -> Cell:
    metrics: dict[str, dict[int, float]] = {}
    for trial in trials:
        for name, value in trial.metrics.items():
            if value is not None:
                metrics.setdefault(name, {})[trial.seed] = value
    first = trials[0]
    return Cell(
        levels=first.factors,
        metrics=metrics,
        published=trials[-1].published,
        planned=first.plan,
        trials=tuple(trials),
    )


def published_cells(study: Study) -> tuple[Cell, ...]:
    """The source's own table in the form of a measured one, so that one code judges both."""
    return tuple(
        Cell(
            levels=levels,
            metrics={name: {1: value} for name, value in values.items()},
            published=values,
        )
        for levels, values in study.published_cells
    )


def variant_factors(campaign: CampaignRecords, study: Study) -> tuple[str, ...]:
    """Factors that have more than one level and do not name a cell."""
    if not study.cell:
        return ()
    return tuple(
        name
        for name in campaign.factors
        if name not in study.cell and len(campaign.levels(name)) > 1
    )


def variant_name(levels: Mapping[str, str], factors: Sequence[str]) -> str:
    """The levels that make a variant: 'idle=keep, start=spread'; '' where nothing varies."""
    return ", ".join(f"{factor}={levels.get(factor, '-')}" for factor in factors)


def distances(cells: Iterable[Cell], study: Study) -> tuple[Distance, ...]:
    """One for each response and level of `by` that has cells which the source has too."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    known = list(cells)
    for response in study.means:
        for cell in known:
            if cell.difference(response.name) is not None:
                key = (group_of(cell, study), response.name)
                groups.setdefault(key, []).append(cell)
    return tuple(_distance(*key, group) for key, group in groups.items())


def group_of(cell: Cell, study: Study) -> str:
    """The cell's level of `by`; '' where the study has none."""
    return cell.levels[study.by] if study.by else ""


def _distance(group: str, response: str, cells: Sequence[Cell]) -> Distance:
    measured = [cell.mean(response) or 0.0 for cell in cells]
    published = [cell.published[response] for cell in cells]
    differences = [m - p for m, p in zip(measured, published, strict=True)]
    return Distance(
        group=group,
        response=response,
        cells=len(cells),
        mean_absolute_difference=math.fsum(map(abs, differences)) / len(cells),
        mean_difference=math.fsum(differences) / len(cells),
        largest_difference=max(differences, key=abs),
        rank_correlation=rank_correlation(measured, published),
    )
