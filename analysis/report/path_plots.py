# SPDX-License-Identifier: GPL-2.0-only
"""A moving path and what passed over it, beside the other plots of its trial."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from analysis import by_pair, moving_path
from analysis.moving_path import Values
from analysis.records import Trial
from analysis.report.drawing import MOST_POINTS, Drawing
from analysis.report.svg import colour, ink
from plan.path import Path

MOST_CHANGES = 10_000
BINS = 150
"""Intervals of which the rate is drawn as a mean: a trace can have a change each millisecond."""
WAYS = {"down": "to the clients", "up": "to the servers"}


def rate(trial: Trial) -> Drawing | None:
    """What the link to the clients could carry, and what passed; None on a still path."""
    path = trial.plan.topology.path
    if path is None:
        return None
    end_s = float(trial.plan.workload.duration_s)
    edges = np.linspace(0, end_s, BINS + 1)
    carried = moving_path.carried_bits(path.down, edges + _begin_s(trial))
    could = np.diff(carried) / np.diff(edges) / 1e6
    passed = _passed(trial)

    def paint(axes: Axes) -> None:
        axes.stairs(could, edges, color=ink(), lw=0.8, ls="--", label="the link's rate")
        if passed is not None:
            axes.stairs(passed[1][:, 0], passed[0], color=colour(0), lw=1.1, label="IP packets")
        axes.set(xlabel="time (s)", ylabel="Mbit/s", xlim=(0, end_s), ylim=(0, None))
        axes.legend(ncols=2)

    whose = "the pairs that cross it" if trial.plan.topology.layout().named else "all pairs"
    alt = (
        f"Rate of the link to the clients over time, from {could.min():.1f} to {could.max():.1f}"
        f" Mbit/s, its mean {could.mean():.1f} Mbit/s"
        f"{'' if passed is None else f', and the throughput of {whose}'}."
    )
    return Drawing(kind="path-rate", title="Rate of the path", alt=alt, paint=paint)


def _passed(trial: Trial) -> tuple[Values, Values] | None:
    """Moments, and the rate of all pairs over the moving link, as by_pair.rates; None: not sampled.

    Pairs over another link do not count.
    """
    moments, total = by_pair.delivered(trial)
    if not len(moments):
        return None
    layout = trial.plan.topology.layout()
    over_link = [pair - 1 for pair in layout.crossing(layout.moved)]
    return by_pair.rates(moments, total[:, over_link].sum(axis=1, keepdims=True), MOST_POINTS)


def delay(trial: Trial) -> Drawing | None:
    """The one-way delay of both directions; None on a still path."""
    path = trial.plan.topology.path
    if path is None:
        return None
    end_s = float(trial.plan.workload.duration_s)
    lines = {way: _delays(path, way, _begin_s(trial), end_s) for way in WAYS}

    def paint(axes: Axes) -> None:
        for place, (way, (times_s, delays_ms)) in enumerate(lines.items()):
            axes.step(times_s, delays_ms, where="post", lw=1, color=colour(place), label=WAYS[way])
        axes.set(xlabel="time (s)", ylabel="one-way delay (ms)", xlim=(0, end_s), ylim=(0, None))
        axes.legend(ncols=2)

    told = "; ".join(
        f"{WAYS[way]} {found.min():.1f} to {found.max():.1f} ms"
        for way, (_, found) in lines.items()
    )
    alt = f"One-way delay of the path over time: {told}."
    return Drawing(kind="path-delay", title="Delay of the path", alt=alt, paint=paint)


def _delays(path: Path, way: str, begin_s: float, end_s: float) -> tuple[Values, Values]:
    """Times [s] and the delays [ms] from then on, the last one to the end."""
    times_s, delays_ms = moving_path.delays_ms(path.way(way), begin_s, end_s, MOST_CHANGES)
    return np.append(times_s, end_s), np.append(delays_ms, delays_ms[-1])


def _begin_s(trial: Trial) -> float:
    """The trial's start on the clock of its path [s]; a trial that ended knows it."""
    return moving_path.begin_s(trial) or 0.0
