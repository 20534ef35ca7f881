# SPDX-License-Identifier: GPL-2.0-only
"""A trial as its page plays it: what its tables have, times in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from analysis import by_pair
from analysis.records import Record, level_text, read_trial
from harness.watch.path import moving

SECOND_NS = 1e9
MOST_POINTS = 4000
MOST_PAIRS = 8
MOST_RATES = 100_000
OCCUPANCY = {"cells": "occupancy_cells", "packets": "backlog_packets"}

Row = dict[str, float | str | None]


def replay(folder: Path) -> dict[str, Any]:
    """All that the page needs of a recorded trial; AnalysisError when it cannot be read."""
    trial = read_trial(folder)
    return {
        **pictures(trial),
        "checks": [{"name": one.name, "ok": one.ok} for one in trial.checks],
        "metrics": dict(trial.metrics),
    }


def pictures(trial: Record) -> dict[str, Any]:
    """What there is to be drawn of a trial, recorded or not yet."""
    plan = trial.plan
    return {
        "name": trial.name,
        "levels": dict(trial.factors),
        "duration_s": float(plan.workload.duration_s),
        "pairs": plan.topology.pairs,
        "rate_bit_per_s": plan.topology.rate_bit_per_s,
        "delay_ms": plan.topology.delay_ns / 1e6,
        "path": moving(trial),
        "sampled": {
            "queue": bool(plan.record.value("queue_sample_ns")),
            "windows": bool(plan.record.value("cwnd_sample_ns")),
            "drops": bool(plan.record.value("drops")),
        },
        "drops_recordable": "drops" in plan.queue.down.recordable,
        "queue": queue(trial),
        "drops": drops(trial),
        "windows": windows(trial),
        "answers": answers(trial),
        "rates": rates(*by_pair.delivered(trial)),
    }


def queue(trial: Record) -> dict[str, Any] | None:
    """The downward queue: its unit, buffer and threshold, times and lengths; None: not sampled.

    Of several middle links, it is the queue of the first one with the lowest rate.
    """
    link = trial.plan.topology.layout().tightest()
    port = link.queue("down")
    rows = [row for row in trial.series("queue") or () if row["port"] == port]
    if not rows:
        return None
    unit = next(unit for unit, column in OCCUPANCY.items() if column in rows[0])
    of_plan = trial.plan.queue.down
    buffer, share = of_plan.room_cells, of_plan.threshold_share
    rows = peaks(rows, OCCUPANCY[unit])
    return {
        "unit": f"{unit}, {link.name}" if link.name else unit,
        "buffer": buffer,
        "threshold": buffer * share if buffer and share else None,
        "t": seconds(rows, "time_ns"),
        "x": [row[OCCUPANCY[unit]] for row in rows],
    }


def drops(trial: Record) -> dict[str, Any]:
    """Frames that it dropped: times, lengths of the queue, causes and pairs."""
    rows = [row for row in trial.series("drops") or () if row["port"] == "down"][:MOST_POINTS]
    return {
        "t": seconds(rows, "time_ns"),
        "x": [row["occupancy_cells"] for row in rows],
        "cause": [row["cause"] for row in rows],
        "pair": [level_text(row["vc"]) for row in rows],
    }


def windows(trial: Record) -> list[dict[str, Any]]:
    """Congestion windows by pair."""
    found: dict[float | str | None, list[Row]] = {}
    for row in trial.series("cwnd") or ():
        found.setdefault(row["pair"], []).append(row)
    return [
        {
            "pair": level_text(pair),
            "t": seconds(some, "time_ns"),
            "w": [row["cwnd_segments"] for row in some],
        }
        for pair, rows in sorted(found.items(), key=lambda one: float(one[0] or 0))[:MOST_PAIRS]
        if (some := peaks(rows, "cwnd_segments"))
    ]


def answers(trial: Record) -> list[list[float]]:
    """Of each whole answer its pair, first and last byte (s), and bytes."""
    columns = ("pair", "first_byte_ns", "last_byte_ns", "size_bytes")
    rows = [[row[column] for column in columns] for row in trial.series("requests") or ()]
    whole = [[float(value) for value in row if isinstance(value, float)] for row in rows]
    return [
        [pair, begin / SECOND_NS, end / SECOND_NS, size]
        for pair, begin, end, size in (row for row in whole if len(row) == len(columns))
    ]


def rates(time_s: ArrayLike, total: ArrayLike) -> dict[str, Any] | None:
    """Throughput [Mbit/s] of each pair, at the end of what it is of; None where it is not known."""
    found = by_pair.rates(time_s, total, MOST_RATES)
    if found is None:
        return None
    moments, mbit = found
    return {"t": moments[1:].round(6).tolist(), "mbit": mbit.round(3).tolist()}


def seconds(rows: Sequence[Row], column: str) -> list[float]:
    return [round(float(row[column] or 0) / SECOND_NS, 6) for row in rows]


def peaks(rows: Sequence[Row], column: str) -> list[Row]:
    """At most MOST_POINTS rows: of each stretch the highest, so that no peak is lost."""
    stretch = -(-len(rows) // MOST_POINTS)
    return [
        max(rows[at : at + stretch], key=lambda row: row[column] or 0)
        for at in range(0, len(rows), max(1, stretch))
    ]
