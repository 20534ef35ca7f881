# SPDX-License-Identifier: GPL-2.0-only
"""What a moving path could carry, and its delays, as functions of the time of a trial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.records import Record
from plan.path import US_PER_S, Way
from plan.plan import WORKLOADS

Values = NDArray[np.float64]
MOST_STEPS = 4_000_000
"""A path with more steps in a trial is not written out."""


def begin_s(trial: Record) -> float | None:
    """The trial's start on the clock of its path [s]; None: a trial under way cannot know it yet.

    It is 0, unless the workload begins itself, as `www` does.
    """
    if trial.facts.has("path"):
        return (trial.facts.source.t0_ns - int(trial.facts.path["origin_ns"])) / 1e9
    name = WORKLOADS.name_of(trial.plan.workload)
    return None if WORKLOADS[name].Source.begins_itself else 0.0


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


class Steps(NamedTuple):
    """A path over the time of a trial: what holds from each time [s] on, as arrays.

    `silent`: the link sends nothing.
    """

    times_s: Values
    rates_bit_per_s: Values
    delays_ms: Values
    silent: NDArray[np.bool_]


def steps(way: Way, begin_s: float, end_s: float) -> Steps | None:
    """The steps from the trial's start, `begin_s` on the clock of the path, to its end.

    None: more than MOST_STEPS.
    """
    rows = list(way.rows())
    period_s = way.period_us / US_PER_S
    (first, last), _ = _rounds([begin_s, begin_s + end_s], period_s)
    if (last - first + 1) * len(rows) > MOST_STEPS:
        return None
    rounds = np.arange(first, last + 1)
    times = np.add.outer(rounds * period_s, [row.time_us / US_PER_S for row in rows]).ravel()
    times -= begin_s
    begin, end = np.searchsorted(times, 0.0, "right") - 1, np.searchsorted(times, end_s)
    rates = np.array([float(row.rate_bit_per_s) for row in rows])
    delays = np.array([row.delay_us / 1e3 for row in rows])
    silent = np.array([not row.rate_bit_per_s and not row.bits for row in rows])
    shown = slice(int(begin), int(end))
    return Steps(
        np.maximum(times[shown], 0.0),
        np.tile(rates, len(rounds))[shown],
        np.tile(delays, len(rounds))[shown],
        np.tile(silent, len(rounds))[shown],
    )


def delays_ms(way: Way, begin_s: float, end_s: float, most: int) -> tuple[Values, Values]:
    """Times [s] and the one-way delay [ms] that holds from then on.

    Of more than `most` changes, those with the smallest and the largest delay of each interval are
    kept. Of a path with more than MOST_STEPS steps, each interval has those of all rows.
    """
    found = steps(way, begin_s, end_s)
    if found is None:
        least, largest = min(way.delays_us) / 1e3, max(way.delays_us) / 1e3
        times = np.linspace(0.0, end_s, most, endpoint=False)
        return times, np.where(np.arange(most) % 2, largest, least)
    changed = np.append(True, np.diff(found.delays_ms) != 0)
    times, delays = found.times_s[changed], found.delays_ms[changed]
    if len(times) > most:
        parts = np.array_split(np.arange(len(times)), most // 2 - 1)
        ends = {int(part[pick(delays[part])]) for part in parts for pick in (np.argmin, np.argmax)}
        kept = sorted({0, *ends, len(times) - 1})
        times, delays = times[kept], delays[kept]
    return times, delays


def silences_s(way: Way, end_s: float, begin_s: float = 0.0) -> list[tuple[float, float]]:
    """When the link stops sending and when it goes on, up to an end, by the trial's clock [s].

    Empty where the path has more than MOST_STEPS steps: then each silence is too short to be seen.
    """
    found = steps(way, begin_s, end_s)
    if found is None:
        return []
    turns = np.diff(np.concatenate([[0], found.silent.astype(int), [0]]))
    edges = np.append(found.times_s, end_s)
    return list(zip(edges[turns == 1].tolist(), edges[turns == -1].tolist(), strict=True))


def outages_s(way: Way, end_s: float) -> list[float]:
    """When the link stops sending."""
    return [begin for begin, _ in silences_s(way, end_s)]


def _rounds(times_s: ArrayLike, period_s: float) -> tuple[Values, Values]:
    """The number of the round, and the time in it."""
    times = np.asarray(times_s, dtype=float)
    rounds = np.floor(times / period_s) if period_s else np.zeros_like(times)
    return rounds, times - rounds * period_s
