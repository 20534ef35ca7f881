# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1's question on the path of a satellite constellation of today: does the sender, the
buffer or the policy of the queue decide? And how much faster is BBR than CUBIC on such a path?

What is published are orders and a ratio of two senders, which claims.toml judges; no table of
cells is at hand, so nothing stands in the columns of published values.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from analysis import by_pair, moving_path
from analysis.metrics import capacity_bit_per_s, jain_index, rates_bit_per_s
from analysis.metrics import efficiency as link_share
from analysis.records import Record
from analysis.study import Response, Study
from plan.plan import Plan
from plan.workload import measure_from_s

FOLDER = Path(__file__).parent
AFTER_S = 3
"""So long after a handover, and before it, the senders are compared."""


def mean_rate_bit_per_s(plan: Plan, begin_s: float, end_s: float) -> float:
    """What the link to the clients can carry on average in an interval."""
    path = plan.topology.path
    if path is None:
        return plan.topology.rate_bit_per_s
    return moving_path.mean_rate_bit_per_s(path.down, begin_s, end_s)


def arrived_bit_per_s(trial: Record) -> tuple[float, ...]:
    """Of each flow, what newly arrived."""
    source = trial.facts.source
    return rates_bit_per_s(source.delivered_bytes, source.measured_s)


def efficiency(trial: Record) -> float:
    """What newly arrived, as a share of what the moving path could carry."""
    plan = trial.plan
    begin_s, end_s = measure_from_s(plan.workload), plan.workload.duration_s
    rate = round(mean_rate_bit_per_s(plan, begin_s, end_s))
    capacity = capacity_bit_per_s(plan.topology.mss_bytes, rate)
    return link_share(arrived_bit_per_s(trial), capacity)


def fairness(trial: Record) -> float | None:
    """Jain's index of what newly arrived."""
    return jain_index(arrived_bit_per_s(trial))


def throughput_mbit_per_s(trial: Record) -> float:
    """Of all flows together."""
    return sum(arrived_bit_per_s(trial)) / 1e6


def queue_delay_ms(trial: Record) -> float | None:
    """The mean time of a cell in the queue, by Little's law: mean length over mean rate."""
    rows = trial.series("queue") or ()
    waiting = [float(row.get("occupancy_cells") or 0) for row in rows if row["port"] == "down"]
    cells = trial.facts.queue["down"].get("cells")
    if not waiting or cells is None:
        return None
    return 1000 * float(np.mean(waiting)) * trial.facts.source.whole_s / cells["delivered"]


def use_after_handover(trial: Record) -> float | None:
    """What passed in the seconds after a handover less what passed in those before the next one,
    each as a share of what the path could carry; None without two handovers."""
    path, end_s = trial.plan.topology.path, trial.plan.workload.duration_s
    begins = [] if path is None else moving_path.outages_s(path.down, end_s + 1)
    gaps = [(one, after) for one, after in pairwise(begins) if after - one > 2 * AFTER_S]
    if not gaps:
        return None
    after = share_of_path(trial, [(one, one + AFTER_S) for one, _ in gaps])
    before = share_of_path(trial, [(end - AFTER_S, end) for _, end in gaps])
    return None if after is None or before is None else after - before


def share_of_path(trial: Record, intervals_s: Sequence[tuple[float, float]]) -> float | None:
    """Bits that passed in intervals of whole seconds over what the path could carry in them."""
    times_s, total = by_pair.delivered(trial)
    if not len(times_s):
        return None
    by_then = np.interp(np.array(intervals_s).ravel(), times_s, total.sum(axis=1)).reshape(-1, 2)
    passed = 8 * (by_then[:, 1] - by_then[:, 0]).sum()
    carried = sum(
        (end - begin) * mean_rate_bit_per_s(trial.plan, begin, end) for begin, end in intervals_s
    )
    return float(passed / carried)


STUDY = Study(
    id="leo",
    title="Reno, SACK, CUBIC and BBR on a path with handovers",
    source="ANRW 2025",
    cell={
        "network": ("still", "handovers", "1 in 1000", "1 in 100"),
        "flows": ("1", "2"),
        "buffer": ("0.5", "2"),
        "policy": ("EPD", "SD", "drop tail"),
        "sender": ("Reno", "SACK", "CUBIC", "BBR"),
    },
    by="network",
    anova=("sender", "buffer", "policy"),
    responses=(
        Response(name="efficiency", short="eff.", of=efficiency, form=".3f"),
        Response(name="fairness", short="fair.", of=fairness, form=".3f"),
        Response(name="queue_delay_ms", short="queue ms", of=queue_delay_ms, form=".1f"),
    ),
    measures=(
        Response(name="throughput_mbit_per_s", of=throughput_mbit_per_s),
        Response(name="use_after_handover", of=use_after_handover),
    ),
    about=(
        "Persistent sources over a dumbbell whose middle link has a handover each 15 s: a new rate"
        " and new delays, after 50 ms of silence. Efficiency is what newly arrived over what this"
        " moving link could carry in the same time."
    ),
    claims=FOLDER / "claims.toml",
    pages="studies.leo.pages",
)
