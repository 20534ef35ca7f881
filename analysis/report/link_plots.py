# SPDX-License-Identifier: GPL-2.0-only
"""The named middle links of a trial, each by its name, beside the other plots of its trial."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from analysis import by_link, by_pair
from analysis.records import Trial
from analysis.report.drawing import MOST_POINTS, Drawing
from analysis.report.svg import SERIES, colour

Values = NDArray[np.float64]
BINS = 150
"""Intervals of which the longest queue is drawn."""


def queues(trial: Trial) -> Drawing | None:
    """Packets in the downward queue of each link, the most of each interval; None: not sampled."""
    layout = trial.plan.topology.layout()
    if not layout.named:  # a queue of cells has other columns
        return None
    found = {one.name: by_link.queue(trial, one.queue("down")) for one in layout.middles()}
    if not all(len(times) for times, _ in found.values()):
        return None
    end_s = float(trial.plan.workload.duration_s)
    edges = np.linspace(0, end_s, BINS + 1)
    most = {name: longest(*one, edges) for name, one in found.items()}

    def paint(axes: Axes) -> None:
        for place, (name, values) in enumerate([*most.items()][: len(SERIES)]):
            axes.stairs(values, edges, lw=1, color=colour(place), label=name, baseline=None)
        axes.set(xlabel="time (s)", ylabel="packets", xlim=(0, end_s), ylim=(0, None))
        axes.legend(ncols=3)

    told = "; ".join(
        f"{name} {lengths[times <= end_s].mean():.1f} in the mean, {lengths.max():.0f} at most"
        for name, (times, lengths) in found.items()
    )
    alt = f"Packets in the queue of each link towards the clients over time: {told}."
    return Drawing(kind="link-queues", title="Queue of each link", alt=alt, paint=paint)


def longest(times: Values, lengths: Values, edges: Values) -> Values:
    """The largest length in each interval; nan in one without samples."""
    place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
    most = np.full(len(edges) - 1, np.nan)
    np.fmax.at(most, place, lengths)
    return most


def rates(trial: Trial) -> Drawing | None:
    """What each link carried to the clients over time, in IP packets; None: not recorded."""
    layout = trial.plan.topology.layout()
    if not layout.named:
        return None
    found = {one.name: by_link.carried(trial, one.queue("down")) for one in layout.middles()}
    moments, _ = next(iter(found.values()))
    total = np.array([carried for _, carried in found.values()]).T
    return lines(trial, dict(zip(found, range(len(found)), strict=True)), moments, total, "link")


def routes(trial: Trial) -> Drawing | None:
    """The throughput of all pairs of each route over time, in IP packets; None: not recorded."""
    layout = trial.plan.topology.layout()
    moments, of_pairs = by_pair.delivered(trial)
    if not layout.named or not len(moments):
        return None
    classes = layout.classes()
    total = np.array(
        [of_pairs[:, [p - 1 for p in pairs]].sum(axis=1) for pairs in classes.values()]
    )
    return lines(
        trial, dict(zip(classes, range(len(classes)), strict=True)), moments, total.T, "route"
    )


def lines(
    trial: Trial, names: Mapping[str, int], moments: Values, total: Values, what: str
) -> Drawing | None:
    """A line for each link or route, from the bytes that each had by each moment.

    names: name -> its column in `total`, which is (moments, columns).
    """
    found = by_pair.rates(moments, total, MOST_POINTS * max(1, len(names)))
    if found is None:
        return None
    time_s, rate = found
    end_s = float(trial.plan.workload.duration_s)

    def paint(axes: Axes) -> None:
        for name, at in [*names.items()][: len(SERIES)]:
            axes.stairs(rate[:, at], time_s, color=colour(at), lw=1, label=name, baseline=None)
        axes.set(xlabel="time (s)", ylabel="Mbit/s", xlim=(0, end_s), ylim=(0, None))
        axes.legend(ncols=3)

    weights = np.diff(time_s)
    means = ", ".join(
        f"{name} {np.average(rate[:, at], weights=weights):.2f}" for name, at in names.items()
    )
    alt = (
        f"Throughput of each {what} towards the clients over time, in IP packets. Means in Mbit/s:"
        f" {means}."
    )
    return Drawing(kind=f"{what}s", title=f"Throughput of each {what}", alt=alt, paint=paint)
