# SPDX-License-Identifier: GPL-2.0-only
"""Contrasts: weighted sums of the means of cells, compared seed by seed.

Trials of one seed share their requests, so a seed that is hard on one cell is hard on the others
too. A contrast is therefore computed within each seed, and its interval is the t interval of these
figures. Where fewer than two seeds have all cells, the cells are independent samples, and the
interval is Welch's, with the degrees of freedom of Satterthwaite.

Source: Welch 1947, Biometrika 34, pages 28-35; Satterthwaite 1946, Biometrics 2, pages 110-114.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from scipy import stats

from analysis.statistics import CONFIDENCE, Estimate, mean

BySeed = Mapping[int, float]
"""Seed -> value."""
Term = tuple[float, BySeed]
"""A weight, and the values of a cell."""
ROUNDING = 1e-12
"""Sums of floating-point numbers differ by this part of the largest: no more is known of a sum."""


class Form(Enum):
    """How an interval was made; the value is what a reader is told."""

    PAIRED = "paired by seed"
    WELCH = "Welch, as the seeds do not match"
    NONE = "no interval: one seed"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A weighted sum of means, in the unit of the values.

    standard_error, freedom: of the t interval; None without one. draws: the figure of each seed
    that has all cells. seeds: how many seeds any of the cells has.
    """

    difference: float
    form: Form
    standard_error: float | None = None
    freedom: float | None = None
    draws: tuple[float, ...] = field(default=(), repr=False)
    seeds: int = 1

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % interval; None without one."""
        if self.standard_error is None or self.freedom is None:
            return None
        return float(stats.t.ppf((1 + CONFIDENCE) / 2, self.freedom)) * self.standard_error

    def p_against(self, value: float) -> float | None:
        """The two-sided p of the true contrast being `value`; None without an interval."""
        if self.standard_error is None or self.freedom is None:
            return None
        return two_sided(self.difference - value, self.standard_error, self.freedom)

    @property
    def made(self) -> str:
        """How the interval was made, and of how many seeds where some lack a cell."""
        some = self.form is Form.PAIRED and len(self.draws) < self.seeds
        return self.form.value + (f" ({len(self.draws)} of {self.seeds})" if some else "")

    def __str__(self) -> str:
        half = self.half_width
        return f"{self.difference:+.4f}" + ("" if half is None else f" ± {half:.4f}")


def two_sided(distance: float, deviation: float, freedom: float) -> float:
    """The p of a t statistic; 1 for a distance of 0, whatever the deviation."""
    if distance == 0:
        return 1.0
    return 0.0 if deviation == 0 else 2 * float(stats.t.sf(abs(distance) / deviation, freedom))


def p_of(change: Estimate) -> float:
    """Of the mean being 0, by Student's t; 1 for differences that are all 0."""
    half = change.half_width
    if half is None:
        return float(change.mean == 0)
    freedom = change.n - 1
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    return two_sided(change.mean, half / t, freedom)


def contrast(terms: Sequence[Term]) -> Contrast:
    """The sum of weight times mean over the terms, with its interval.

    Raises ValueError without a term, and for a term without a value.
    """
    if not terms or not all(values for _, values in terms):
        raise ValueError("a contrast needs values in each of its terms")
    seeds = sorted(set.intersection(*(set(values) for _, values in terms)))
    draws = tuple(math.fsum(weight * values[seed] for weight, values in terms) for seed in seeds)
    known = len(set().union(*(values for _, values in terms)))
    if len(draws) > 1:
        return _paired(draws, known, _floor(terms))
    difference = math.fsum(weight * mean([*values.values()]) for weight, values in terms)
    if all(len(values) > 1 for _, values in terms):
        return _welch(terms, difference, known)
    return Contrast(difference=difference, form=Form.NONE, draws=draws, seeds=known)


def of_draws(draws: Sequence[float], seeds: int) -> Contrast:
    """The same of a figure that is known of each seed, such as a share of variation.

    seeds: how many there were; one that has no figure is not among `draws`.
    Raises ValueError without a draw.
    """
    if not draws:
        raise ValueError("no seed has the figure")
    if len(draws) == 1:
        return Contrast(difference=draws[0], form=Form.NONE, draws=tuple(draws), seeds=seeds)
    return _paired(tuple(draws), seeds, ROUNDING * max(map(abs, draws)))


def differences(first: Sequence[BySeed], second: Sequence[BySeed]) -> list[Term]:
    """The terms of the mean over the cells of `first` less that over the cells of `second`."""
    return [
        *((1 / len(first), values) for values in first),
        *((-1 / len(second), values) for values in second),
    ]


def _floor(terms: Sequence[Term]) -> float:
    return ROUNDING * max(abs(weight * x) for weight, values in terms for x in values.values())


def _paired(draws: tuple[float, ...], seeds: int, floor: float) -> Contrast:
    centre = mean(draws)
    variance = math.fsum((draw - centre) ** 2 for draw in draws) / (len(draws) - 1)
    return Contrast(
        difference=centre,
        form=Form.PAIRED,
        standard_error=max(math.sqrt(variance / len(draws)), floor),
        freedom=len(draws) - 1,
        draws=draws,
        seeds=seeds,
    )


def _welch(terms: Sequence[Term], difference: float, seeds: int) -> Contrast:
    parts = []
    for weight, values in terms:
        n, centre = len(values), mean([*values.values()])
        variance = math.fsum((value - centre) ** 2 for value in values.values()) / (n - 1)
        parts.append((weight**2 * variance / n, n - 1))
    total = math.fsum(part for part, _ in parts)
    below = math.fsum(part**2 / freedom for part, freedom in parts)
    return Contrast(
        difference=difference,
        form=Form.WELCH,
        standard_error=max(math.sqrt(total), _floor(terms)),
        freedom=total**2 / below if below else float(sum(freedom for _, freedom in parts)),
        seeds=seeds,
    )
