# SPDX-License-Identifier: GPL-2.0-only
"""Why a trial has more than its link carries: the bytes in order beside the bytes that came.

The efficiency counts what a receiver has in order. When a lost segment comes at last, all bytes
that the receiver held behind it count at once, also those that came before the measurement.

`python -m studies.ubr_1996.captures FOLDER` prints a line for each trial of a campaign that ran
with `--pcap down`; counted.csv has such lines. The README's sentences take their numbers from it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from analysis import kept_trials
from analysis.kept import Kept
from analysis.records import Trial, capture_start_ns, read_campaign
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.table import Row, read_csv
from analysis.tcp import SYN, WHOLE, Endpoint, packets
from workload import iperf

COUNTED = Path(__file__).parent / "counted.csv"
FACTORS = ("network", "sources", "buffer", "window", "policy", "flavor")
FIGURES = ("limit_bytes", "in_order_bytes", "new_bytes", "again_bytes", "efficiency")
COLUMNS = ("campaign", *FACTORS, "seed", *FIGURES)
SERVERS, NS_PER_S = 2, 1_000_000_000
Ends = tuple[Endpoint, Endpoint]
MAIN, BEYOND = "ubr-persistent", "ubr-persistent-beyond"
STAMPED = ("CUBIC", "BBR")
MSS_BYTES = 512
MEASURED_S = {MAIN: 10, BEYOND: 5}
SEGMENT = 1.0 + 1e-6
"""A count of whole segments is above the link's limit by less than this many of them."""


def counted(trial: Trial) -> list[str]:
    """A line of counted.csv."""
    interval = trial.plan.workload
    assert isinstance(interval, iperf.Parameters)
    start_ns = capture_start_ns(trial)
    begin_ns, end_ns = (start_ns + at_s * NS_PER_S for at_s in interval.ends_s)
    new, again = carried(trial.folder / "down.pcap", begin_ns, end_ns)
    in_order = sum(float(row["received_bytes"] or 0) for row in trial.series("flows") or ())
    limit = (trial.metrics["capacity_bit_per_s"] or 0.0) * (end_ns - begin_ns) / 8e9
    figures = [f"{limit:.0f}", f"{in_order:.0f}", str(new), str(again)]
    levels = [trial.factors[name] for name in FACTORS]
    return [*levels, str(trial.seed), *figures, repr(trial.metrics["efficiency"])]


def carried(path: Path, begin_ns: int, end_ns: int) -> tuple[int, int]:
    """Payload that left the queue to the clients after the begin, until the end.

    Returns: the bytes of segments that had not left it before, and of those that had.
    """
    new, again = 0, 0
    first: dict[Ends, int] = {}
    known: set[tuple[Ends, int]] = set()
    for packet in packets(path):
        ends = (packet.source, packet.target)
        if packet.source.host[1] != SERVERS:
            continue
        if packet.flags & SYN:
            first[ends] = packet.sequence + 1
        if not packet.payload_bytes:
            continue
        byte = (packet.sequence - first[ends]) % WHOLE
        span = {(ends, byte), (ends, byte + packet.payload_bytes - 1)}
        if begin_ns < packet.time_ns <= end_ns:
            if span <= known:
                again += packet.payload_bytes
            else:
                new += packet.payload_bytes
        known |= span
    return new, again


def lines(folder: Path) -> Iterator[list[str]]:
    """The lines of a campaign's trials that have a capture."""
    campaign = read_campaign(folder)
    for trial in campaign.trials:
        if (trial.folder / "down.pcap").is_file():
            yield [campaign.name, *counted(trial)]


def above_one(kept: Kept) -> Numbers:
    """Kept trials with an efficiency above 1, and what a capture says of those that we looked at.

    whole: trials that are above 1 by less than a segment, because a trial counts whole segments.
    """
    found = [
        (float(one.metrics["efficiency"]) - 1, _limit(one.metrics, campaign), one.metrics)
        for campaign in MEASURED_S
        for one in kept_trials.read(kept.folder / campaign / kept_trials.FILE)
        if float(one.metrics["efficiency"]) > 1
    ]
    whole = [one for one in found if one[0] * one[1] / MSS_BYTES < SEGMENT]
    rest = [one for one in found if one not in whole]
    return {
        "above": len(found),
        "whole": len(whole),
        "rest": len(rest),
        "rest_lossy": sum(float(metrics["lost_frames"]) > 0 for *_, metrics in rest),
        "most": 1 + max(over for over, *_ in found),
        "whole_most": 1 + max(over for over, *_ in whole),
    }


def held(kept: Kept) -> Numbers:
    """The trials of counted.csv: in order, and what came, as shares of the link's limit.

    same: trials whose efficiency is that of the kept trial, in all digits.
    """
    rows = counts()
    newer = [row for row in rows if row["flavor"] in STAMPED]
    jumps = [row for row in rows if _jump(row) > MSS_BYTES]
    return {
        "counted": len(rows),
        "same": sum(_kept_efficiency(kept, row) == float(row["efficiency"]) for row in rows),
        "jumps": len(jumps),
        "most": max(_share(row, "new_bytes", "again_bytes") for row in rows),
        "over_bytes": max(
            float(row["new_bytes"]) + float(row["again_bytes"]) - float(row["limit_bytes"])
            for row in rows
        ),
        "newer": len(newer),
        "newer_ordered": max(_share(row, "in_order_bytes") for row in newer),
        "newer_came": max(_share(row, "new_bytes") for row in newer),
    }


def table(kept: Kept) -> Sheet:
    """Each trial of counted.csv."""
    del kept
    lines: list[list[Value]] = [
        [
            *(row[name] for name in ("network", "buffer", "window", "policy", "flavor", "seed")),
            *(_share(row, name) for name in ("in_order_bytes", "new_bytes", "again_bytes")),
        ]
        for row in counts()
    ]
    heads = ("in order (efficiency)", "new on the link", "again on the link")
    levels = ("network", "buffer", "window", "policy", "sender", "seed")
    return plain(lines, *levels, *((head, ".4f") for head in heads))


@cache
def counts() -> Sequence[Row]:
    """The lines of counted.csv."""
    return read_csv(COUNTED).rows


def _share(row: Row, *names: str) -> float:
    return sum(float(row[name]) for name in names) / float(row["limit_bytes"])


def _jump(row: Row) -> float:
    """The bytes by which a trial has more in order than the link carried in the same time."""
    return float(row["in_order_bytes"]) - float(row["new_bytes"]) - float(row["again_bytes"])


def _limit(metrics: Mapping[str, float], campaign: str) -> float:
    """The payload that the link can carry in the measured time [bytes]."""
    return float(metrics["capacity_bit_per_s"]) * MEASURED_S[campaign] / 8


def _kept_efficiency(kept: Kept, row: Row) -> float | None:
    """The efficiency of the kept trial of a line."""
    for one in kept_trials.read(kept.folder / row["campaign"] / kept_trials.FILE):
        same = all(one.levels[name] == row[name] for name in FACTORS)
        if same and str(one.seed) == row["seed"]:
            return float(one.metrics["efficiency"])
    return None


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows(
        line for folder in sys.argv[1:] for line in lines(Path(folder))
    )
