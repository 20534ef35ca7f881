# SPDX-License-Identifier: GPL-2.0-only
"""A moving path as its page plays it: rate, delays and outages over the time of the trial."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from analysis import moving_path
from analysis.records import Record
from plan.path import Path, Way

STEP_S = 0.05  # the page shows the rate as means of such intervals
MOST_POINTS = 4000
MOST_SILENT = 20_000
WAYS = ("down", "up")


def moving(trial: Record) -> dict[str, Any] | None:
    """The path of a trial, times in seconds of the trial.

    None: the path is still, or its time is not known yet (moving_path.begin_s).
    `t` and `mbit`: the mean rate of the link to the clients [Mbit/s] in the interval that begins at
    `t`. `delays`: of each direction the one-way delay [ms] from a time on. `silent`: begin and end
    of each outage to the clients; none if there are too many to be seen. `pairs`: the numbers of
    the pairs whose data cross the link.
    """
    topology = trial.plan.topology
    begin_s = moving_path.begin_s(trial)
    if topology.path is None or begin_s is None:
        return None
    layout = topology.layout()
    pairs = layout.crossing(layout.moved)
    return {**played(topology.path, begin_s, float(trial.plan.workload.duration_s)), "pairs": pairs}


@lru_cache(maxsize=8)  # a trial under way is looked at again and again, and its path never changes
def played(path: Path, begin_s: float, end_s: float) -> dict[str, Any]:
    """What moving() returns of a path from a time on its clock, but the pairs.

    path: as a record's plan has it, with tuples.
    """
    edges = np.linspace(0.0, end_s, 1 + min(MOST_POINTS, math.ceil(end_s / STEP_S)))
    mbit = np.diff(moving_path.carried_bits(path.down, edges + begin_s)) / np.diff(edges) / 1e6
    silent = moving_path.silences_s(path.down, end_s, begin_s)
    return {
        "t": edges[:-1].round(6).tolist(),
        "mbit": mbit.round(3).tolist(),
        "delays": {name: delays(path.way(name), begin_s, end_s) for name in WAYS},
        "silent": silent if len(silent) <= MOST_SILENT else [],
    }


def delays(way: Way, begin_s: float, end_s: float) -> dict[str, list[float]]:
    """The one-way delay [ms] and the times from which on it holds."""
    times_s, delays_ms = moving_path.delays_ms(way, begin_s, end_s, MOST_POINTS)
    return {"t": times_s.round(6).tolist(), "ms": delays_ms.tolist()}
