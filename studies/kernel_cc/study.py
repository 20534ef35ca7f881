# SPDX-License-Identifier: GPL-2.0-only
"""What Linux's own senders do on one kernel after the other: no paper, but a matrix.

Measured from the fifth second on, when the last source has come.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np

from analysis.metrics import capacity_bit_per_s, jain_index, rates_bit_per_s
from analysis.metrics import efficiency as link_share
from analysis.records import Record
from analysis.shares import flavor_shares
from analysis.study import Response, Study
from plan.atm import CELL_BITS, segment_cells
from plan.layout import Host
from plan.workload import measure_from_s

NS_PER_S = 1_000_000_000
FAIR = 0.9
"""Jain's index of the windows at and above which flows have converged."""

Row = dict[str, float | str | None]


def queue_delay_ms(trial: Record) -> float | None:
    """Mean over the samples of what waits at the port down, as time on the link [ms].

    A packet that waits counts as one of full size.
    """
    plan = trial.plan
    cells = segment_cells(plan.topology.mss_bytes)
    waiting = [
        float(row.get("occupancy_cells") or cells * float(row.get("backlog_packets") or 0))
        for row in trial.series("queue") or ()
        if row["port"] == "down"
        and measure_from_s(plan.workload) <= second(row) < plan.workload.duration_s
    ]
    rate = plan.topology.rate_bit_per_s
    return float(np.mean(waiting)) * CELL_BITS / rate * 1000 if waiting else None


def second(row: Row) -> int:
    """The second of the trial that a sample is of."""
    return int(float(row["time_ns"] or 0)) // NS_PER_S


def convergence_s(trial: Record) -> float | None:
    """From the end of the starts until Jain's index of the flows' windows, means over a second
    each, is FAIR and stays so; None for one flow, and where the last second is not [s]."""
    workload, flows = trial.plan.workload, trial.plan.topology.pairs
    begin, end = measure_from_s(workload), workload.duration_s
    rows = [r for r in trial.series("cwnd") or () if begin <= second(r) < end]
    fair = [
        (jain_index(mean_windows(list(some), flows)) or 0) >= FAIR
        for _, some in groupby(rows, key=second)
    ]
    if flows == 1 or not fair or not fair[-1]:
        return None
    return float(len(fair) - fair[::-1].index(False)) if False in fair else 0.0


def arrived_bytes(trial: Record) -> Sequence[int]:
    """Of each flow, what newly arrived in the interval: acknowledged, or by SACK.

    What a receiver got in order has in it what it had held from before the interval, which with
    six flows can be more than the link carries in it. Older records have that alone.
    """
    source = trial.facts.source
    if source.has("delivered_bytes"):
        return source.delivered_bytes
    return [int(row["received_bytes"] or 0) for row in trial.series("flows") or ()]


def efficiency(trial: Record) -> float:
    """What newly arrived, as a share of what the link can carry."""
    topology = trial.plan.topology
    capacity = capacity_bit_per_s(topology.mss_bytes, topology.rate_bit_per_s)
    rates = rates_bit_per_s(arrived_bytes(trial), trial.facts.source.measured_s)
    return link_share(rates, capacity)


def fairness(trial: Record) -> float | None:
    """Jain's index of what newly arrived."""
    return jain_index(arrived_bytes(trial))


def late_share(trial: Record) -> float | None:
    """The part of the link's bytes that the flavor had which came late; None of one flavor."""
    shares = list(flavor_shares(trial).values())
    return shares[-1] if shares else None


def segments_per_packet(trial: Record) -> float | None:
    """Of what the servers handed to their cards; None where they hand over single segments."""
    if not trial.facts.has("offload"):
        return None
    packets, segments = _sums(trial.facts.offload, trial.plan.topology.dumbbell().servers())
    return segments / packets if packets else None


def segments_per_ack(trial: Record) -> float | None:
    """Segments that came to the clients, for each packet that these sent; None as above."""
    if not trial.facts.has("offload"):
        return None
    acks, segments = _sums(trial.facts.links, trial.plan.topology.dumbbell().clients())
    return segments / acks if acks else None


def _sums(ports: Mapping[str, Sequence[int]], hosts: Sequence[Host]) -> tuple[int, int]:
    """The first two counters, over the switch ports of some hosts."""
    own = [ports[host.switch_port] for host in hosts]
    return sum(one[0] for one in own), sum(one[1] for one in own)


def reductions(trial: Record) -> Sequence[tuple[float, float]]:
    """When a single flow's slow start threshold falls [s], and to what [segments]; as sampled.

    Nothing where several flows share the link.
    """
    rows = (trial.series("cwnd") or ()) if trial.plan.topology.pairs == 1 else ()
    known = [(float(row["time_ns"] or 0), float(row["ssthresh_segments"] or 0)) for row in rows]
    return [
        (time_ns / NS_PER_S, threshold)
        for (_, before), (time_ns, threshold) in pairwise(known)
        if threshold < before
    ]


def first_threshold_segments(trial: Record) -> float | None:
    """The slow start threshold after its first fall; None without one."""
    found = reductions(trial)
    return found[0][1] if found else None


def second_reduction_s(trial: Record) -> float | None:
    """The time from the first fall of the slow start threshold to the second; None without."""
    found = reductions(trial)
    return found[1][0] - found[0][0] if len(found) > 1 else None


def mean_windows(rows: Sequence[Row], flows: int) -> list[float]:
    """Each flow's mean window; 0 of one that has none yet."""
    windows = [
        [float(row["cwnd_segments"] or 0) for row in rows if row["pair"] == pair]
        for pair in range(1, flows + 1)
    ]
    return [float(np.mean(some)) if some else 0.0 for some in windows]


STUDY = Study(
    id="kernel_cc",
    title="Linux's own senders on three kernels",
    source="Linux",
    cell={
        "kernel": ("6.1", "6.12", "7.3"),
        "rate": ("5", "20"),
        "rtt": ("40", "160"),
        "queue": ("drop-tail-1", "drop-tail-4", "fq-codel", "EPD"),
        "flows": ("1", "6"),
        "flavor": ("reno", "cubic", "bbr"),
    },
    units={"rate": "Mbit/s", "rtt": "ms"},
    by="kernel",
    responses=(
        Response(name="efficiency", short="eff.", of=efficiency),
        Response(name="fairness", short="fair.", of=fairness),
        Response(
            name="queue_delay_ms",
            short="queue ms",
            of=queue_delay_ms,
            form=".1f",
            meaning="the mean length of the queue towards the clients, as the time that the link "
            "needs to send it, in ms",
        ),
    ),
    measures=(
        Response(
            name="convergence_s",
            of=convergence_s,
            meaning="the time until the flows share the link equally and go on to do so, in s",
        ),
        Response(
            name="late_share",
            of=late_share,
            meaning="the share that the flavor which came late has of the bytes that arrived",
        ),
        Response(
            name="segments_per_packet",
            of=segments_per_packet,
            meaning="the mean number of segments in a packet that a server gives to its card",
        ),
        Response(
            name="segments_per_ack",
            of=segments_per_ack,
            meaning="the number of segments that came to the clients, divided by the number of "
            "packets that the clients sent",
        ),
        Response(
            name="first_threshold_segments",
            of=first_threshold_segments,
            meaning="the slow start threshold of a single flow after it fell for the first time, "
            "in segments",
        ),
        Response(
            name="second_reduction_s",
            of=second_reduction_s,
            meaning="the time between the first two falls of a single flow's slow start threshold, "
            "in s (the windows are sampled, so the time is a multiple of the sampling interval)",
        ),
    ),
    about=(
        "Persistent sources share one link. Each source begins at a random moment before the "
        "measured interval. A queue drop-tail-N has room for N products of rate and round trip. "
        "EPD has room for one product, and refuses frames above 0.8 of it."
    ),
    pages="studies.kernel_cc.pages",
)
