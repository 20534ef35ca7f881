# SPDX-License-Identifier: GPL-2.0-only
"""What a moving path could carry, and its delays, as functions of the time of a trial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plan.path import US_PER_S, Row, Way

Values = NDArray[np.float64]


def carried_bits(way: Way, times_s: ArrayLike) -> Values:
    """The bits that the link could have sent from time 0 to each time, with all bits at once."""
    rows = list(way.rows())
    begins = np.array([row.time_us for row in rows]) / US_PER_S
    rates = np.array([row.rate_bit_per_s for row in rows])
    at_once = np.cumsum([row.bits for row in rows])
    steady = np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(begins))])
    period_s = way.period_us / US_PER_S
    rounds, since = _rounds(times_s, period_s)
    row_of = np.searchsorted(begins, since, "right") - 1
    whole = steady[-1] + at_once[-1] + rates[-1] * (period_s - begins[-1])
    within = steady[row_of] + at_once[row_of] + rates[row_of] * (since - begins[row_of])
    return np.asarray(rounds * whole + within, dtype=float)


def mean_rate_bit_per_s(way: Way, begin_s: float, end_s: float) -> float:
    """What the link can carry on average in an interval."""
    first, last = carried_bits(way, [begin_s, end_s])
    return float(last - first) / (end_s - begin_s)


class Change(NamedTuple):
    """A row of the path, at a time of the trial."""

    time_s: float
    row: Row


def changes(way: Way, end_s: float) -> list[Change]:
    """The rows from time 0 to an end, in each round of the path."""
    rows = list(way.rows())
    period_s = way.period_us / US_PER_S
    rounds = int(_rounds([end_s], period_s)[0][0]) + 1 if period_s else 1
    found = [
        Change(number * period_s + row.time_us / US_PER_S, row)
        for number in range(rounds)
        for row in rows
    ]
    return [change for change in found if change.time_s < end_s]


def silences_s(way: Way, end_s: float) -> list[tuple[float, float]]:
    """When the link stops sending and when it goes on, up to an end [s]."""
    found: list[tuple[float, float]] = []
    begin: float | None = None
    for change in changes(way, end_s):
        silent = not change.row.rate_bit_per_s and not change.row.bits
        if silent and begin is None:
            begin = change.time_s
        elif not silent and begin is not None:
            found.append((begin, change.time_s))
            begin = None
    return found if begin is None else [*found, (begin, end_s)]


def outages_s(way: Way, end_s: float) -> list[float]:
    """When the link stops sending."""
    return [begin for begin, _ in silences_s(way, end_s)]


def _rounds(times_s: ArrayLike, period_s: float) -> tuple[Values, Values]:
    """The number of the round, and the time in it."""
    times = np.asarray(times_s, dtype=float)
    rounds = np.floor(times / period_s) if period_s else np.zeros_like(times)
    return rounds, times - rounds * period_s
