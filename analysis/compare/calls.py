# SPDX-License-Identifier: GPL-2.0-only
"""The calls of TCP's functions that sent a segment, from the events `calls` in trace.csv."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest

from analysis.compare.difference import Divergence
from analysis.compare.levels import Comparisons
from analysis.compare.segments import Segment
from analysis.compare.text import earliest
from analysis.records import Trial
from analysis.tcp import WHOLE

TABLE = "trace.csv"
EVENTS = ("calls:enter", "calls:segment")  # of lab/calls/calls.patch
LEAVES = "(the segment goes to the device)"
OTHER = "(another segment goes to the device)"
MOST_LINES = 400
SIGNS = "-+"


@dataclass
class Calls:
    """What one call from outside of TCP called: an acknowledgement's, a timer's, a program's.

    Attributes:
        begin_ns: since the trial's start.
        lines: the functions, each called by the one before it that has one space less in front.
    """

    begin_ns: int
    lines: list[str] = field(default_factory=list)


def calls(trial: Trial, segment: Segment) -> Calls | None:
    """The calls that sent a segment; None if the trial has no record of them.

    The segment may have left its host earlier than it passed the captured port. If the host sent
    these bytes several times, the last time before this moment counts.
    """
    under_way: dict[str, Calls] = {}
    found: Calls | None = None
    at = 0
    for row in rows(trial):
        if (time_ns := int(row["time_ns"])) > segment.time_ns:
            break
        if row["event"] not in EVENTS:
            continue
        depth, process = int(row["depth"]), row["process"]
        enters = row["event"] == EVENTS[0]
        if (enters and not depth) or process not in under_way:
            under_way[process] = Calls(time_ns)
        of_process = under_way[process]
        if not enters and sends(row, segment):
            found, at = of_process, len(of_process.lines)
        of_process.lines.append(" " * depth + (written(row) if enters else OTHER))
    if found is not None:
        found.lines[at] = found.lines[at].replace(OTHER, LEAVES)
    return found


def sends(row: dict[str, str], segment: Segment) -> bool:
    """Is a row of calls:segment the packet that has this segment? It may have more bytes."""
    if (row["saddr"], int(row["sport"])) != (segment.source, segment.port):
        return False
    behind = (segment.wire_sequence - int(row["seq"])) % WHOLE
    return behind + segment.payload_bytes <= int(row["payload_bytes"])


def lines(compared: Comparisons) -> Iterator[str]:
    """Where the calls part, and those of the first segment that differs; nothing without one."""
    parted = earliest(compared)
    if parted is None or parted.divergence is None:
        return
    at: Divergence = parted.divergence
    levels, trials = compared.levels, (parted.first, parted.second)
    yield from parting(levels, trials)
    segments = (at.first.segment, at.second.segment)
    found = [calls(a, b) if b else None for a, b in zip(trials, segments, strict=True)]
    yield ""
    yield "functions of TCP that the segment went through:"
    for sign, level, of_level in zip(SIGNS, levels, found, strict=True):
        began = f"from {of_level.begin_ns / 1e9:.9f} s on" if of_level else "not recorded"
        yield f"{sign} {level}: {began}"
    first, second = ([] if one is None else one.lines for one in found)
    one_host = len({segment.source for segment in segments if segment}) == 1
    yield from shortened(together(first, second) if one_host else apart(first, second))


def parting(levels: Sequence[str], trials: Sequence[Trial]) -> Iterator[str]:
    """The first call that differs on any host, with the functions that it is in."""
    for one, other in zip_longest(*map(entered, trials)):
        if one != other:
            yield ""
            yield "the first call of TCP that differs, on any host:"
            for sign, level, call in zip(SIGNS, levels, (one, other), strict=True):
                when = f"{call[0] / 1e9:.9f} s {' > '.join(call[1])}" if call else "none"
                yield f"{sign} {level}: {when}"
            return


def entered(trial: Trial) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each call: its time [ns], and the functions that called it, with itself as the last."""
    within: dict[str, list[str]] = {}
    for row in rows(trial):
        if row["event"] == EVENTS[0]:
            path = within.setdefault(row["process"], [])
            path[int(row["depth"]) :] = [written(row)]
            yield int(row["time_ns"]), tuple(path)


def written(row: dict[str, str]) -> str:
    """A function as its source names it; two kernels may have different copies of gcc's."""
    return row["function"].partition(".")[0]


def rows(trial: Trial) -> Iterator[dict[str, str]]:
    """The events of a trial in their order; none if it has no table of them."""
    path = trial.folder / TABLE
    if path.exists():
        with path.open(newline="", encoding="utf-8") as stream:
            yield from csv.DictReader(stream)


def together(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Both as one list: `-` before what only the first has, `+` before what only the second has."""
    found: list[str] = []
    for what, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if what == "equal":
            found += [f"  {line}" for line in one[a:b]]
            continue
        found += [f"- {line}" for line in one[a:b]] + [f"+ {line}" for line in other[c:d]]
    return found


def apart(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """One after the other: two hosts have little in common."""
    return [f"- {line}" for line in one] + [f"+ {line}" for line in other]


def shortened(found: Sequence[str]) -> Iterator[str]:
    """So many lines, and how many more there are."""
    yield from found[:MOST_LINES]
    if len(found) > MOST_LINES:
        yield f"  ({len(found) - MOST_LINES} more lines)"
