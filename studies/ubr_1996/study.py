# SPDX-License-Identifier: GPL-2.0-only
"""96-0518R1: Jain, Goyal, Kalyanaraman, Fahmy, "TCP over UBR and Its Buffer Requirements", ATM
Forum, 1996 (slides): five endless sources over plain UBR, LAN and WAN.

published/results.csv has its rows: efficiency in per cent and fairness. published/goodputs.csv
has D1 to D5 of the same rows, each source's goodput; where the scanned slides show 8.0 in the rows
of 500 cells it is 0.8, as the row's sum tells. Sum and index of the goodputs give the printed
figures, but in three rows: of two the index is cut off and not rounded, and the goodputs of the
third, WAN with 12,000 cells and a window of 1,800,000 without EPD, are those of the row above it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from analysis.metrics import jain_index
from analysis.records import Record
from analysis.study import Response, Study
from analysis.table import Row, read_csv
from plan.plan import Plan

FOLDER = Path(__file__).parent
SOURCES = 5


@cache
def results() -> dict[tuple[str, ...], dict[str, float]]:
    """Its 20 rows: (network, policy, buffer in cells, window in bytes) -> responses as fractions.

    Its column EPD becomes the policy: Y is EPD, N is plain; N/A, where no cell is lost and a
    policy has nothing to do, is plain too.
    """
    return {
        (row["network"], _policy(row), row["buffer_cells"], row["receiver_window_bytes"]): {
            "efficiency": float(row["efficiency_percent"]) / 100,
            "fairness": float(row["fairness"]),
        }
        for row in read_csv(FOLDER / "published" / "results.csv").rows
    }


@cache
def goodputs() -> dict[tuple[str, ...], tuple[float, ...]]:
    """D1 to D5 of the same rows [Mbit/s]."""
    return {
        (row["network"], _policy(row), row["buffer_cells"], row["receiver_window_bytes"]): tuple(
            float(row[f"d{source}_mbit_per_s"]) for source in range(1, SOURCES + 1)
        )
        for row in read_csv(FOLDER / "published" / "goodputs.csv").rows
    }


def _policy(row: Row) -> str:
    return "EPD" if row["epd"] == "Y" else "plain"


def published(levels: Mapping[str, str], plan: Plan) -> Mapping[str, float] | None:
    """Its row for 5 Vanilla sources; other senders and numbers it has not."""
    ours = (plan.tcp.flavor.name, plan.topology.pairs)
    if ours != ("vanilla", SOURCES):
        return None
    buffer, window = plan.queue.down.room_cells, plan.tcp.window_bytes
    key = (levels.get("network", ""), levels.get("policy", ""), str(buffer), str(window))
    return results().get(key)


def lost_frames(trial: Record) -> float:
    """Frames that the downward queue refused or broke, from the start."""
    frames = trial.facts.queue["down"]["frames"]
    return float(frames["in"] - frames["delivered"])


def shares(trial: Record) -> list[float]:
    """Each source's part of all that was received from the start; 0 where nothing was."""
    received = trial.facts.source.received_whole_bytes
    total = sum(received)
    return [count / total if total else 0.0 for count in received]


def fairness_from_start(trial: Record) -> float | None:
    """Jain's index over all that each source brought from the start."""
    return jain_index(shares(trial))


def least_share(trial: Record) -> float:
    """What the least source received from the start, over an equal share."""
    found = shares(trial)
    return min(found) * len(found)


def starved_sources(trial: Record) -> float:
    """Sources of which nothing arrived, from the start: their goodput is 0."""
    return float(trial.facts.source.received_whole_bytes.count(0))


def throughputs_bit_per_s(trial: Record) -> dict[int, float]:
    """Pair -> its throughput in the measured interval; empty without flows.csv."""
    duration_s = trial.facts.source.measured_s
    return {
        int(row["pair"]): 8 * row["received_bytes"] / duration_s
        for row in trial.series("flows") or ()
        if isinstance(row["pair"], float) and isinstance(row["received_bytes"], float)
    }


def least_throughput(trial: Record) -> float | None:
    """Of the slowest source."""
    return min(throughputs_bit_per_s(trial).values(), default=None)


def largest_throughput(trial: Record) -> float | None:
    """Of the fastest source."""
    return max(throughputs_bit_per_s(trial).values(), default=None)


def known(factor: int) -> tuple[str, ...]:
    """The levels that its rows have of a factor of results()."""
    return tuple(dict.fromkeys(row[factor] for row in results()))


STUDY = Study(
    id="ubr_1996",
    title="TCP over UBR and its buffer requirements",
    source="96-0518R1",
    cell={
        "network": ("LAN", "WAN"),
        "sources": ("1", "2", "5", "10"),
        "buffer": known(2),
        "window": known(3),
        "policy": ("plain", "EPD", "EPD-n"),
        "flavor": ("Vanilla",),
    },
    units={"buffer": "cells", "window": "bytes"},
    by="network",
    responses=(
        Response(name="efficiency", short="eff.", form=".3f", published=".2f"),
        Response(name="fairness", short="fair.", form=".3f", published=".2f"),
    ),
    measures=(
        Response(name="lost_frames", of=lost_frames),
        Response(name="fairness_from_start", of=fairness_from_start),
        Response(name="least_share", of=least_share),
        Response(name="starved_sources", of=starved_sources),
        Response(name="least_bit_per_s", of=least_throughput),
        Response(name="largest_bit_per_s", of=largest_throughput),
    ),
    about=(
        "Efficiency is the sum of the sources' throughputs over what whole segments leave of the "
        "link; fairness is Jain's index over the throughputs (96-0518R1, Performance Metrics). "
        "Both are of the interval that the experiment measures; what is said to be from the "
        "start has all of the trial in it."
    ),
    published=published,
    claims=FOLDER / "claims.toml",
    pages="studies.ubr_1996.pages",
)
