# SPDX-License-Identifier: GPL-2.0-only
"""Measured cells against the paper's: means, intervals over seeds, differences, summaries.

A *cell* is one set of levels of the paper's four factors (network, flavor, policy, buffer). A
*variant* is a set of levels of whatever other factors a campaign varies (an assumption, a
stack); each variant has a table of cells of its own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

from analysis.records import PAPER_FACTORS, Campaign, Trial

RESPONSES = ("efficiency", "fairness")
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Mean of n values; `low` and `high` bound its t interval and are None when n < 2."""

    n: int
    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the interval's width; None when n < 2."""
        return None if self.high is None else self.high - self.mean


@dataclass(frozen=True, kw_only=True)
class CellComparison:
    """One cell and response: the seeds' values, their estimate, and the published value."""

    network: str
    flavor: str
    policy: str
    buffer: str
    response: str
    values: tuple[float, ...]
    estimate: Estimate
    paper: float | None

    @property
    def difference(self) -> float | None:
        """Measured mean less the paper's value; None where the paper has none."""
        return None if self.paper is None else self.estimate.mean - self.paper

    @property
    def paper_within_interval(self) -> bool | None:
        """Whether the interval over seeds holds the paper's value; None where unknown."""
        if self.paper is None or self.estimate.low is None or self.estimate.high is None:
            return None
        return self.estimate.low <= self.paper <= self.estimate.high


@dataclass(frozen=True, kw_only=True)
class NetworkSummary:
    """How far one network's cells are from the paper's, in one response.

    `rank_correlation` is Spearman's over the cells, None with fewer than 3 or without
    variation; the differences are dimensionless as the responses are.
    """

    network: str
    response: str
    cells: int
    mean_absolute_difference: float
    mean_difference: float
    largest_difference: float
    rank_correlation: float | None


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean and its t interval; raises ValueError without values."""
    n = len(values)
    if n == 0:
        raise ValueError("no value to estimate a mean from")
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(n=1, mean=mean, low=None, high=None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * math.sqrt(variance / n)
    return Estimate(n=n, mean=mean, low=mean - half, high=mean + half)


def variant_factors(campaign: Campaign) -> tuple[str, ...]:
    """Factors beyond the paper's four that have more than one level."""
    return tuple(
        name
        for name in campaign.factors
        if name not in PAPER_FACTORS and len(campaign.levels(name)) > 1
    )


def variants(campaign: Campaign) -> dict[str, tuple[Trial, ...]]:
    """Trials by variant ('idle=keep, start=spread'; '' when nothing else varies).

    The variant with the most trials comes first, as the one the report is about; of several
    the one whose levels the experiment names first.
    """
    factors = variant_factors(campaign)
    groups: dict[str, list[Trial]] = {}
    for trial in campaign.trials:
        name = ", ".join(f"{factor}={trial.factors.get(factor, '-')}" for factor in factors)
        groups.setdefault(name, []).append(trial)
    largest_first = sorted(groups.items(), key=lambda item: -len(item[1]))
    return {name: tuple(trials) for name, trials in largest_first}


def compare(trials: Sequence[Trial], response: str) -> tuple[CellComparison, ...]:
    """One comparison a cell, in the order of `trials`; trials without the metric are left out.

    The paper's values are those in the records.
    """
    cells: dict[tuple[str, ...], list[float]] = {}
    published: dict[tuple[str, ...], float | None] = {}
    for trial in trials:
        value = trial.metrics.get(response)
        if value is not None and all(factor in trial.factors for factor in PAPER_FACTORS):
            key = tuple(trial.factors[factor] for factor in PAPER_FACTORS)
            cells.setdefault(key, []).append(value)
            published[key] = (trial.document.get("paper") or {}).get(response)
    return tuple(_cell(key, response, values, published[key]) for key, values in cells.items())


def summarise(cells: Sequence[CellComparison]) -> tuple[NetworkSummary, ...]:
    """A summary for each network and response that has cells the paper has too."""
    groups: dict[tuple[str, str], list[CellComparison]] = {}
    for cell in cells:
        if cell.paper is not None:
            groups.setdefault((cell.network, cell.response), []).append(cell)
    return tuple(_summary(*key, group) for key, group in groups.items())


def published_cells(
    table: Mapping[tuple[str, str, str, float], tuple[float, float]], response: str
) -> tuple[CellComparison, ...]:
    """The published table in the form of a measured one, so that one code judges both."""
    place = RESPONSES.index(response)
    return tuple(
        _cell((network, flavor, policy, f"{buffer:g}"), response, [values[place]], values[place])
        for (network, flavor, policy, buffer), values in table.items()
    )


def _cell(
    key: tuple[str, ...], response: str, values: Sequence[float], published: float | None
) -> CellComparison:
    network, flavor, policy, buffer = key
    return CellComparison(
        network=network,
        flavor=flavor,
        policy=policy,
        buffer=buffer,
        response=response,
        values=tuple(values),
        estimate=estimate(values),
        paper=published,
    )


def _summary(network: str, response: str, cells: Sequence[CellComparison]) -> NetworkSummary:
    measured = [cell.estimate.mean for cell in cells]
    published = [cell.paper for cell in cells if cell.paper is not None]
    differences = [m - p for m, p in zip(measured, published, strict=True)]
    return NetworkSummary(
        network=network,
        response=response,
        cells=len(cells),
        mean_absolute_difference=math.fsum(map(abs, differences)) / len(cells),
        mean_difference=math.fsum(differences) / len(cells),
        largest_difference=max(differences, key=abs),
        rank_correlation=_rank_correlation(measured, published),
    )


def _rank_correlation(measured: Sequence[float], published: Sequence[float]) -> float | None:
    if len(measured) < 3 or len(set(measured)) == 1 or len(set(published)) == 1:
        return None
    return float(stats.spearmanr(measured, published).statistic)
