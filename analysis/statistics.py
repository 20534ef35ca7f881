# SPDX-License-Identifier: GPL-2.0-only
"""Estimates with their intervals, and distribution functions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Mean of n values; `low` and `high` bound its t interval.

    They are None when n < 2, and where the n values are one observation (analysis/replicates.py).
    """

    n: int
    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the interval's width; None where there is none."""
        return None if self.high is None else self.high - self.mean


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


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, summed exactly; raises ZeroDivisionError without values."""
    return math.fsum(values) / len(values)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's; None with fewer than 3 pairs, and where all of one side are equal."""
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(stats.spearmanr(first, second).statistic)


def distribution(values: Sequence[float] | Values) -> tuple[Values, Values]:
    """The empirical distribution function: values in ascending order, share at most each.

    An infinite value (of something that did not end) counts in the shares and is not among the
    values, so that the function ends below 1.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    shares = np.arange(1, len(ordered) + 1) / max(1, len(ordered))
    known = np.isfinite(ordered)
    return ordered[known], shares[known]


def quantiles(
    seeds: Sequence[Sequence[float]], shares: Sequence[float]
) -> tuple[Estimate | None, ...]:
    """Each quantile's mean over the seeds with its t interval, a sequence of values a seed.

    None where no seed has a value, and where a seed's quantile is infinite.
    """
    known = [np.asarray(values, dtype=float) for values in seeds if len(values)]
    found = [
        [float(np.quantile(values, share, method="inverted_cdf")) for values in known]
        for share in shares
    ]
    return tuple(estimate(of) if of and all(map(math.isfinite, of)) else None for of in found)
