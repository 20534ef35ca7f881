# SPDX-License-Identifier: GPL-2.0-only
"""What a question asks for, as a number: of a trial's record, of its plan alone, of a repair.

A lab's `measure` names one of the functions of MEASURES as `of`, and has its arguments. Those of
OF_REPAIRS are about what a flavor did with exact losses, the others about a trial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from analysis.metrics import BITS_PER_BYTE, jain_index
from analysis.metrics import capacity_bit_per_s as capacity
from analysis.records import Record
from harness.exact_loss.host import Outcome
from plan import atm

NS_PER_MS = 1_000_000
Row = Mapping[str, Any]


class Between(NamedTuple):
    """A quantity of which a record says that it is not less, and not more."""

    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A trial's record, with its metrics by the present code."""

    record: Record
    metrics: Mapping[str, Any]

    @property
    def factors(self) -> Mapping[str, str]:
        return self.record.factors

    def rows(self, table: str) -> Sequence[Row]:
        """A table of the record; ValueError where it has none."""
        found = self.record.series(table)
        if found is None:
            raise ValueError(f"{self.record.name} has no {table}.csv")
        return found


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What a flavor did with losses."""

    flavor: str
    outcome: Outcome

    @property
    def factors(self) -> Mapping[str, str]:
        return {"flavor": self.flavor}


Measurable = Finished | Repair


def metric(trial: Finished, *, name: str) -> float:
    """One of the record's metrics (docs/records.md)."""
    return float(trial.metrics[name])


def series(
    trial: Finished,
    *,
    table: str,
    take: str,
    column: str = "",
    rows: Row | None = None,
    scale: float = 1.0,
) -> float:
    """A figure of a column of a table.

    Args:
        take: one of TAKES; count needs no column.
        rows: only those with these values, such as port = "down".
        scale: what the figure is multiplied with, to be in the unit that is asked for.
    """
    found = [row for row in trial.rows(table) if all(row[k] == v for k, v in (rows or {}).items())]
    if take == "count":
        return float(len(found))
    values = [float(row[column]) for row in found if row[column] is not None]
    if not values:
        raise ValueError(f"{trial.record.name} has nothing in {table}.csv of {column}")
    return TAKES[take](values) * scale


def at_first(trial: Finished, *, table: str, column: str, other: str) -> Between:
    """What a column of samples was at the first row of another table.

    A sample is taken now and then. So the record says only that the value lay between the last
    sample that is not later, and the first that is.
    """
    at_ns = min(row["time_ns"] for row in trial.rows(other))
    samples = sorted(trial.rows(table), key=lambda row: row["time_ns"])
    before = [row[column] for row in samples if row["time_ns"] <= at_ns]
    after = [row[column] for row in samples if row["time_ns"] > at_ns]
    if not before or not after:
        raise ValueError(
            f"{trial.record.name}: {table}.csv has no samples around {other}.csv's first"
        )
    return Between(*sorted((float(before[-1]), float(after[0]))))


def response_ms(trial: Finished, *, at: float, most_bytes: float = math.inf) -> float:
    """A quantile (0..1) of the times from before connect to the last byte, of finished downloads.

    most_bytes: only of responses that are no longer.
    """
    times = [
        row["last_byte_ns"] - row["begun_ns"]
        for row in trial.rows("exchanges")
        if row["direction"] == "down"
        and row["state"] == "done"
        and row["response_bytes"] <= most_bytes
    ]
    return float(np.quantile(times, at)) / NS_PER_MS


def packets_wait_ms(trial: Finished, *, packets: int) -> float:
    """How long so many full packets take on the link."""
    topology = trial.record.plan.topology
    bits = 8 * topology.framing.link_bytes(topology.layout().mtu_bytes)
    return packets * bits * 1e3 / topology.rate_bit_per_s


def path_segments(trial: Finished) -> float:
    """Full segments that the idle path holds: TCP payload rate x two delays / MSS."""
    return payload_rate(trial) * round_trip_s(trial) / BITS_PER_BYTE / mss(trial)


def round_trips_s(trial: Finished, *, times: float) -> float:
    """So many round trips of the idle middle link [s]."""
    return times * round_trip_s(trial)


def buffer_segments(trial: Finished) -> float:
    """Full segments that the buffer holds."""
    return buffer_cells(trial) / segment_cells(trial)


def segment_cells(trial: Finished) -> float:
    """Cells of the frame that carries a full segment (plan/atm.py)."""
    return float(atm.segment_cells(mss(trial)))


def full_buffer_ms(trial: Finished) -> float:
    """How long a cell waits that finds the buffer all but full."""
    return atm.sent_ms(buffer_cells(trial), trial.record.plan.topology.rate_bit_per_s)


def payload_mbit_per_s(trial: Finished) -> float:
    """TCP payload that the link can carry."""
    return payload_rate(trial) / 1e6


def window_limit(trial: Finished) -> float:
    """Efficiency that a window a round trip allows, of all senders: theory's upper bound."""
    plan = trial.record.plan
    rate = plan.tcp.window_bytes * BITS_PER_BYTE / round_trip_s(trial)
    return min(1.0, plan.topology.pairs * rate / payload_rate(trial))


def torn_percent(trial: Finished, *, lost_percent: float) -> float:
    """Of full segments those that lose a cell, when so many cells are lost by chance."""
    return 100 * (1 - (1 - lost_percent / 100) ** segment_cells(trial))


def fair_share_mbit_per_s(trial: Finished) -> float:
    """Of each of the clients, when all want as much as they can get."""
    return payload_mbit_per_s(trial) / trial.record.plan.topology.pairs


def threshold_cells(trial: Finished, *, times: float = 1.0) -> float:
    """The threshold of the queue, or a part of it."""
    share = trial.record.plan.queue.down.threshold_share
    if share is None:
        raise ValueError(f"{trial.record.name}: its queue has no threshold")
    return times * buffer_cells(trial) * share


def jain_of(trial: Finished, *, rates: Sequence[float]) -> float:
    """Jain's index of rates that the question gives."""
    return jain_index(rates) or 0.0


def fairness(trial: Finished) -> float:
    """Jain's index over what each client received, from flows.csv."""
    index = jain_index(received_bytes(trial))
    return math.nan if index is None else index


def largest_percent(trial: Finished) -> float:
    """The part of all received bytes that the client with most received."""
    received = received_bytes(trial)
    return 100 * max(received) / sum(received)


def clients_below(trial: Finished, *, part: float) -> float:
    """How many clients received less than this part of an equal share."""
    received = received_bytes(trial)
    return float(sum(one < part * sum(received) / len(received) for one in received))


def most_served(trial: Finished) -> float:
    """The number of the client that received most."""
    return float(max(trial.rows("flows"), key=lambda row: row["received_bytes"])["pair"])


def timeouts(repair: Repair) -> float:
    """How often the timer expired."""
    return float(repair.outcome.timeouts)


def recoveries(repair: Repair) -> float:
    """How often three duplicate acknowledgements began a recovery."""
    return float(repair.outcome.recoveries)


def sent_again(repair: Repair) -> float:
    """Segments that were sent again, each as often as it was."""
    return float(len(repair.outcome.retransmitted))


def last_resending_ms(repair: Repair) -> float:
    """When the last segment was sent again, from the connection's start."""
    return max(sent.time_s for sent in repair.outcome.sent if sent.sending) * 1e3


def received_bytes(trial: Finished) -> list[int]:
    """Of each client."""
    return [row["received_bytes"] for row in trial.rows("flows")]


def payload_rate(trial: Finished) -> float:
    topology = trial.record.plan.topology
    return capacity(mss(trial), topology.rate_bit_per_s, topology.framing)


def round_trip_s(trial: Finished) -> float:
    return 2 * float(trial.record.plan.topology.delay_ns) / 1e9


def mss(trial: Finished) -> int:
    return trial.record.plan.topology.mss_bytes


def buffer_cells(trial: Finished) -> int:
    cells = trial.record.plan.queue.down.room_cells
    if cells is None:
        raise ValueError(f"{trial.record.name}: its queue does not count cells")
    return cells


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


TAKES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "largest": max,
    "smallest": min,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "mean": mean,
    "sum": math.fsum,
}
OF_REPAIRS: Mapping[str, Callable[..., float]] = {
    found.__name__: found for found in (timeouts, recoveries, sent_again, last_resending_ms)
}
OF_TRIALS: Mapping[str, Callable[..., float | Between]] = {
    found.__name__: found
    for found in (
        metric,
        series,
        at_first,
        response_ms,
        packets_wait_ms,
        path_segments,
        round_trips_s,
        buffer_segments,
        segment_cells,
        full_buffer_ms,
        payload_mbit_per_s,
        window_limit,
        torn_percent,
        fair_share_mbit_per_s,
        threshold_cells,
        fairness,
        jain_of,
        largest_percent,
        clients_below,
        most_served,
    )
}
MEASURES: Mapping[str, Callable[..., float | Between]] = {**OF_REPAIRS, **OF_TRIALS}


def measure(trial: Measurable, wanted: Mapping[str, Any]) -> float | Between:
    """The number, or the two numbers around it, that a lab's `measure` names, of a trial.

    Raises:
        KeyError, TypeError, ValueError, ArithmeticError, AnalysisError: the record does not have
        what it needs, or it names what there is not.
    """
    arguments = {key: value for key, value in wanted.items() if key not in ("of", "where")}
    return MEASURES[wanted["of"]](trial, **arguments)
