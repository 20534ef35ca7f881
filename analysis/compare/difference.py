# SPDX-License-Identifier: GPL-2.0-only
"""Where two trials part: the first segment that is another one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from analysis.compare.segments import Connection, Segment, connections
from analysis.errors import RecordError
from analysis.json_file import json_object
from analysis.records import Trial

# What tells of a run or of its place in the experiment, the captures, which have the lab's own
# clock: their segments are compared; and the kernel's events, which have the ports that it drew.
NOT_COMPARED = {"trial.json", "run.json", "judgement.json", "SHA256SUMS", "trace.csv"}
CAPTURE = ".pcap"

# Of a lab's facts, what says who made them: two releases that do the same are the same.
FACTS = "lab.json"
MAKERS = "versions"


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of two trials at the moment when they part.

    Attributes:
        segment: None where the connection, or all of it, is not there.
        cwnd_segments, ssthresh_segments: of the pair's sender when last sampled; None: never.
    """

    segment: Segment | None
    cwnd_segments: float | None
    ssthresh_segments: float | None


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The first segment that differs, over all connections and all middle links.

    Attributes:
        link: the name of the link on which it passed; "" if there is only one.
        pair: whose connection.
        number: of the segment within its connection, from 1.
        time_ns: of the earlier of both, since the trial's start.
    """

    link: str
    pair: int
    number: int
    time_ns: int
    first: Side
    second: Side


def changed_files(first: Trial, second: Trial) -> list[str]:
    """The files of their records that differ, by name."""
    names = {path.name for trial in (first, second) for path in trial.folder.iterdir()}
    compared = {name for name in names - NOT_COMPARED if not name.endswith(CAPTURE)}
    return sorted(name for name in compared if content(first, name) != content(second, name))


def content(trial: Trial, name: str) -> object:
    """What a file of a record says of behaviour; None without it."""
    path = trial.folder / name
    if not path.exists():
        return None
    if name == FACTS:
        return {key: value for key, value in json_object(path).items() if key != MAKERS}
    return path.read_bytes()


def divergence(first: Trial, second: Trial) -> Divergence | None:
    """Where they part; None where every segment is the same at the same time.

    Raises RecordError without captures.
    """
    found = []
    for link, port in ports_down(first, second):
        sides = zip_longest(connections(first, port), connections(second, port))
        several = (parting(one, other) for one, other in sides)
        found += [(link, at) for at in several if at is not None]
    if not found:
        return None
    # Links stand in the order in which the data passes them, and min() takes the first of equals.
    link, (time_ns, pair, number, one, other) = min(found, key=lambda at: at[1][:3])
    return Divergence(
        link=link,
        pair=pair,
        number=number,
        time_ns=time_ns,
        first=side(first, pair, time_ns, one),
        second=side(second, pair, time_ns, other),
    )


def ports_down(first: Trial, second: Trial) -> list[tuple[str, str]]:
    """The middle links of two trials, each with its downward queue. RecordError: not the same."""
    one, other = (trial.plan.topology.layout().middles() for trial in (first, second))
    if [middle.name for middle in one] != [middle.name for middle in other]:
        raise RecordError("the trials have different middle links, so no segments can be compared")
    return [(middle.name, middle.queue("down")) for middle in one]


def parting(
    one: Connection | None, other: Connection | None
) -> tuple[int, int, int, Segment | None, Segment | None] | None:
    """Time, pair, number and segments where two connections part."""
    segments: Sequence[Sequence[Segment]] = [c.segments if c else () for c in (one, other)]
    pair = next(c.pair for c in (one, other) if c is not None)
    for number, (a, b) in enumerate(zip_longest(*segments), start=1):
        if a != b:
            return min(s.time_ns for s in (a, b) if s is not None), pair, number, a, b
    return None


def side(trial: Trial, pair: int, time_ns: int, segment: Segment | None) -> Side:
    """The state of a pair's sender at a moment, beside its segment."""
    rows = [
        row
        for row in trial.series("cwnd") or ()
        if row["pair"] == pair and float(row["time_ns"] or 0) <= time_ns
    ]
    last = max(rows, key=lambda row: float(row["time_ns"] or 0), default={})
    cwnd, ssthresh = last.get("cwnd_segments"), last.get("ssthresh_segments")
    return Side(
        segment=segment,
        cwnd_segments=cwnd if isinstance(cwnd, float) else None,
        ssthresh_segments=ssthresh if isinstance(ssthresh, float) else None,
    )
