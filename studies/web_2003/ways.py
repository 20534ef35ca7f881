# SPDX-License-Identifier: GPL-2.0-only
"""What the queues of both directions dropped, in the kernel and in ns-2.

Half of the responses go down and half go up, so each queue carries data and acknowledgements. The
kernel's older lines have the queue "down" only, so they are not here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.kept import Kept, number
from analysis.report.model import MISSING, Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.web_2003.ns2.tables import PLAN, QUEUES
from studies.web_2003.ns2.witness import LONG, SHORT, WITNESS

DOWN, UP = "dropped_share", "dropped_share_up"
WAYS = (DOWN, UP)
EXCHANGES = {SHORT: "10,000", LONG: "250,000"}
Place = tuple[str, str, str]
"""Load, sender, and the kernel's queue."""


@dataclass(frozen=True)
class Both:
    """A trial's shares of dropped packets, down and up [%]; ns-2's, if it has the same queue."""

    campaign: str
    place: Place
    kernel: Sequence[float]
    ns_2: Sequence[float] | None


def both(kept: Kept) -> list[Both]:
    """The trials of which both directions are kept, those of a cell beside each other."""
    return [one for campaign in EXCHANGES for one in _of(kept, campaign)]


def _of(kept: Kept, campaign: str) -> Iterator[Both]:
    witness = {_key(row): row for row in kept.table(campaign, WITNESS.name).rows
               if row["variant"] == PLAN}  # fmt: skip
    for row in kept.table(campaign, "trials").rows:
        known = _shares(row)
        if known is not None:
            load, sender, queue, _ = key = _key(row)
            own = QUEUES[queue] == queue and key in witness
            yield Both(campaign, (load, sender, queue), known,
                       _shares(witness[key]) if own else None)  # fmt: skip


def _key(row: Row) -> tuple[str, str, str, str]:
    return row["load"], row["sender"], row["queue"], row["seed"]


def _shares(row: Row) -> Sequence[float] | None:
    if not all(row.get(name) for name in WAYS):
        return None
    return [100 * (number(row, name) or 0.0) for name in WAYS]


def sheet(kept: Kept) -> Sheet:
    """The means of each cell over its trials; ns-2's over the same trials, if it has them all."""
    cells: dict[tuple[str, Place], list[Both]] = {}
    for one in both(kept):
        cells.setdefault((one.campaign, one.place), []).append(one)
    rows: list[list[Value]] = [
        [EXCHANGES[campaign], f"{load} %", sender, queue, len(some),
         *_means([one.kernel for one in some]), *_means([one.ns_2 for one in some])]
        for (campaign, (load, sender, queue)), some in cells.items()
    ]  # fmt: skip
    heads = [f"{way}, {program} (%)" for program in ("kernel", "ns-2") for way in ("down", "up")]
    return plain(rows, "exchanges", "load", "sender", "queue", "seeds", *heads)


def _means(some: Sequence[Sequence[float] | None]) -> list[Value]:
    known = [one for one in some if one is not None]
    if len(known) < len(some):
        return [MISSING, MISSING]
    return [f"{fmean(shares):.1f}" for shares in zip(*known, strict=True)]


def numbers(kept: Kept) -> Numbers:
    """How far the two queues of a trial are apart, and how far ns-2 is from the kernel in each.

    more_up: in how many trials the queue "up" dropped the larger share. down, up: the mean absolute
    difference between ns-2 and the kernel [percentage points].
    """
    found = both(kept)
    apart = [up - down for down, up in (one.kernel for one in found)]
    pairs = [(one.kernel, one.ns_2) for one in found if one.ns_2 is not None]
    down, up = (fmean(abs(a[way] - b[way]) for a, b in pairs) for way in (0, 1))
    return {
        "trials": len(found),
        "more_up": sum(x > 0 for x in apart),
        "lowest": min(apart),
        "highest": max(apart),
        "mean": fmean(apart),
        "pairs": len(pairs),
        "down": down,
        "up": up,
    }
