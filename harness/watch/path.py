# SPDX-License-Identifier: GPL-2.0-only
"""A moving path as its page plays it: rate, delays and outages over the time of the trial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from analysis import moving_path
from analysis.records import Record
from plan.path import Way

STEP_S = 0.05  # the page shows the rate as means of such intervals
MOST_POINTS = 4000
WAYS = ("down", "up")


def moving(trial: Record) -> dict[str, Any] | None:
    """The path of a trial, times in seconds; None: the path is still.

    `t` and `mbit`: the mean rate of the link to the clients [Mbit/s] in the interval that begins at
    `t`. `delays`: of each direction the one-way delay [ms] from a time on. `silent`: begin and end
    of each outage to the clients. `pairs`: the numbers of the pairs whose data cross the link.
    """
    topology = trial.plan.topology
    if topology.path is None:
        return None
    end_s = float(trial.plan.workload.duration_s)
    way, layout = topology.path.down, topology.layout()
    edges = np.linspace(0.0, end_s, 1 + min(MOST_POINTS, math.ceil(end_s / STEP_S)))
    mbit = np.diff(moving_path.carried_bits(way, edges)) / np.diff(edges) / 1e6
    return {
        "t": edges[:-1].round(6).tolist(),
        "mbit": mbit.round(3).tolist(),
        "delays": {name: delays(topology.path.way(name), end_s) for name in WAYS},
        "silent": moving_path.silences_s(way, end_s)[:MOST_POINTS],
        "pairs": layout.crossing(layout.moved),
    }


def delays(way: Way, end_s: float) -> dict[str, list[float]]:
    """The one-way delay [ms] and the times from which on it holds, without rows that keep it."""
    times: list[float] = []
    values: list[float] = []
    for change in moving_path.changes(way, end_s):
        delay_ms = change.row.delay_us / 1e3
        if not values or values[-1] != delay_ms:
            times.append(round(change.time_s, 6))
            values.append(delay_ms)
    stretch = -(-len(times) // MOST_POINTS)
    return {"t": times[:: max(1, stretch)], "ms": values[:: max(1, stretch)]}
