# SPDX-License-Identifier: GPL-2.0-only
"""Do DCTCP or Prague and CUBIC share a link as RFC 9332 says, and how long do packets wait?

What is published are limits and orders, which claims.toml judges. The delays are those of single
packets in the queue under test (record.sojourn), all packets of a sender's flows together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from analysis.metrics import rates_bit_per_s
from analysis.records import Record, level_text
from analysis.study import Response, Study
from plan.plan import Plan
from plan.workload import measure_from_s

FOLDER = Path(__file__).parent
SENDERS = {"low": ("dctcp", "prague"), "classic": ("cubic",)}
"""What the names of responses begin with -> its flavors."""
NS = 10**9
Delays = NDArray[np.float64]


def pairs_of(plan: Plan, sender: str) -> tuple[int, ...]:
    """The pairs of a sender (a key of SENDERS), from 1 on."""
    pairs = range(1, plan.topology.pairs + 1)
    return tuple(pair for pair in pairs if plan.tcp.of_pair(pair).flavor.name in SENDERS[sender])


@dataclass(frozen=True)
class Sender:
    """A sender in a trial; two are the same if they have the same folder and name."""

    folder: Path
    name: str
    trial: Record = field(compare=False, repr=False)


def delays_ms(trial: Record, sender: str) -> Delays:
    """Of each packet of a sender that left in the measured interval, its time in the queue."""
    return _delays_ms(Sender(trial.folder, sender, trial))


@lru_cache(maxsize=len(SENDERS))
def _delays_ms(sender: Sender) -> Delays:
    """The same; each response of a trial asks for it."""
    trial = sender.trial
    begin, end = measure_from_s(trial.plan.workload) * NS, trial.plan.workload.duration_s * NS
    pairs = {str(pair) for pair in pairs_of(trial.plan, sender.name)}
    return np.array(
        [
            float(row["sojourn_ns"] or 0) / 1e6
            for row in trial.series("sojourn") or ()
            if row["port"] == "down" and level_text(row["pair"]) in pairs
            and begin <= float(row["time_ns"] or 0) < end
        ]
    )  # fmt: skip


def delay_ms(sender: str, of: Callable[[Delays], float]) -> Callable[[Record], float | None]:
    """A figure of a sender's delays."""

    def measure(trial: Record) -> float | None:
        found = delays_ms(trial, sender)
        return float(of(found)) if len(found) else None

    return measure


def mean(found: Delays) -> float:
    """The mean of all packets."""
    return float(np.mean(found))


def median(found: Delays) -> float:
    """The delay that half of the packets do not exceed."""
    return float(np.percentile(found, 50))


def p99(found: Delays) -> float:
    """The delay that 99 of 100 packets do not exceed."""
    return float(np.percentile(found, 99))


def rates_of(trial: Record, sender: str) -> list[float]:
    """The rate of each flow of a sender: payload that newly arrived [bit/s]."""
    source = trial.facts.source
    rates: Sequence[float] = rates_bit_per_s(source.delivered_bytes, source.measured_s)
    return [rates[pair - 1] for pair in pairs_of(trial.plan, sender)]


def rate_ratio(trial: Record) -> float | None:
    """A scalable flow's mean rate over a classic flow's; None without both."""
    low, classic = (rates_of(trial, sender) for sender in SENDERS)
    return fmean(low) / fmean(classic) if low and classic else None


def uneven(trial: Record) -> float | None:
    """The largest rate of the scalable flows over the least; None with less than two flows."""
    rates = rates_of(trial, "low")
    return max(rates) / min(rates) if len(rates) > 1 and min(rates) else None


def round_trip_ms(trial: Record, sender: str) -> float | None:
    """The idle round trip of the path, and the mean delay of a sender's packets in the queue.

    The idle round trip is that of a small packet (84 bytes), so this is a little less than the
    round trip of a full packet; the ratios of round trips and windows change by a few percent.
    """
    waited = delay_ms(sender, mean)(trial)
    return None if waited is None else trial.facts.expected_idle_round_trip_ns / 1e6 + waited


def round_trip_ratio(trial: Record) -> float | None:
    """A classic flow's round trip over a scalable flow's."""
    low, classic = (round_trip_ms(trial, sender) for sender in SENDERS)
    return None if low is None or classic is None else classic / low


def window_ratio(trial: Record) -> float | None:
    """A scalable flow's window over a classic flow's: the rate times the round trip, of each."""
    trips, rates = round_trip_ratio(trial), rate_ratio(trial)
    return None if trips is None or rates is None else rates / trips


def sent_again(trial: Record) -> float:
    """The segments that the scalable flows sent again in the whole trial."""
    pairs = {str(pair) for pair in pairs_of(trial.plan, "low")}
    rows = [row for row in trial.series("flows") or () if level_text(row["pair"]) in pairs]
    return sum(float(row["retransmits"] or 0) for row in rows)


def dropped_percent(trial: Record) -> float | None:
    """The dropped packets of the whole trial among all packets that came to the queue."""
    counters = trial.facts.queue["down"]
    out, dropped = counters["sent"], counters["drops"]
    return 100 * dropped / (out + dropped) if out + dropped else None


STUDY = Study(
    id="l4s",
    title="DCTCP, Prague and CUBIC behind the dual queue of L4S",
    source="RFC 9332",
    cell={
        "queue": ("DualPI2", "PIE", "FQ-CoDel", "drop tail"),
        "flows": ("2",),
    },
    by="flows",
    responses=(
        Response(name="efficiency", short="eff.", form=".3f"),
        Response(
            name="rate_ratio", short="rates", of=rate_ratio, form=".2f",
            meaning="the mean rate of a flow of DCTCP (or Prague) over that of a flow of CUBIC",
        ),
        Response(
            name="low_mean_ms", short="DCTCP ms", of=delay_ms("low", mean), form=".2f",
            meaning="the mean time of a packet of DCTCP (or Prague) in the queue (ms)",
        ),
        Response(
            name="low_p99_ms", short="99 %", of=delay_ms("low", p99), form=".2f",
            meaning="the time in the queue that 99 % of the packets of DCTCP do not exceed (ms)",
        ),
        Response(
            name="classic_mean_ms", short="CUBIC ms", of=delay_ms("classic", mean), form=".2f",
            meaning="the mean time of a packet of CUBIC in the queue (ms)",
        ),
        Response(
            name="classic_p99_ms", short="99 %", of=delay_ms("classic", p99), form=".2f",
            meaning="the time in the queue that 99 % of the packets of CUBIC do not exceed (ms)",
        ),
    ),
    measures=(
        Response(
            name="low_median_ms", of=delay_ms("low", median),
            meaning="the time in the queue that half of the packets of DCTCP do not exceed (ms)",
        ),
        Response(
            name="low_sent_again", of=sent_again,
            meaning="the segments that all flows of DCTCP sent again",
        ),
        Response(
            name="window_ratio", of=window_ratio,
            meaning="the window of a flow of DCTCP over that of a flow of CUBIC; a window is the"
            " rate times the round trip with the mean delay of the queue",
        ),
        Response(
            name="round_trip_ratio", of=round_trip_ratio,
            meaning="the round trip of CUBIC over that of DCTCP, both with the mean delay of the"
            " queue",
        ),
        Response(
            name="uneven", of=uneven,
            meaning="the larger rate of two scalable flows over the smaller rate",
        ),
        Response(
            name="dropped_percent", of=dropped_percent,
            meaning="the dropped packets among all packets that came to the queue (%)",
        ),
    ),
    about=(
        "Persistent sources over a dumbbell with 40 Mbit/s. In most trials, half of the pairs send"
        " with DCTCP or Prague, and the other half with CUBIC."
    ),
    claims=FOLDER / "claims.toml",
    pages="studies.l4s.pages",
)  # fmt: skip
