# SPDX-License-Identifier: GPL-2.0-only
"""What is left of the changes from 6.1 to 6.12 where both compute the receiver's window alike.

kernel-window.toml runs both kernels with a patch each. Its pairs of trials stand beside the pairs
of the same places and seeds of kernel-cc.toml, which has the kernels as they are.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.kernel_cc.changes import CAMPAIGN, NAME, PATH, RESPONSES, SAME, count_same

WINDOW = "kernel-window"
OLD, NEW = "6.1", "6.12"
FLAVORS = ("reno", "cubic", "bbr")
SENT_AGAIN, QUEUE = "retransmits", "queue_delay_ms"
FEW = 5
"""Segments sent again: a change up to this is counted as small."""
FORMS = {"efficiency": ".4f", "fairness": ".4f", "queue_delay_ms": ".2f", "retransmits": ",.0f"}
"""Of the largest difference that is left of a response."""
Both = tuple[Row, Row]
"""A pair's changes with the kernels as they are, and with the patches."""


def pairs(kept: Kept) -> Mapping[str, Sequence[Both]]:
    """Flavor -> its pairs of trials that both experiments have."""
    plain_rows = {
        _place(row): row
        for row in kept.table(CAMPAIGN, NAME).rows
        if (row["from"], row["to"]) == (OLD, NEW)
    }
    found: dict[str, list[Both]] = {flavor: [] for flavor in FLAVORS}
    for row in kept.table(WINDOW, NAME).rows:
        if (beside := plain_rows.get(_place(row))) is not None:
            found[row["flavor"]].append((beside, row))
    return found


def _place(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in (*PATH, "flavor", "seed"))


def sizes(both: Sequence[Both], response: str) -> tuple[float, float]:
    """The mean size (without sign) of a response's change: as the kernels are, and patched."""
    as_they_are, patched = (
        fmean(abs(x) for b in both if (x := number(b[at], response)) is not None) for at in (0, 1)
    )
    return as_they_are, patched


def unchanged(both: Sequence[Both], response: str) -> tuple[int, int]:
    """How many pairs have no change of a response: as the kernels are, and patched."""
    as_they_are, patched = (sum(number(b[at], response) == 0 for b in both) for at in (0, 1))
    return as_they_are, patched


def table(kept: Kept) -> Sheet:
    """By flavor: how large the changes are, with and without the patches."""
    rows: list[list[Value]] = [
        [flavor, len(both), *unchanged(both, SENT_AGAIN), *sizes(both, SENT_AGAIN),
         *sizes(both, QUEUE)]
        for flavor, both in pairs(kept).items()
    ]  # fmt: skip
    return plain(
        rows,
        "flavor",
        ("pairs", "d"),
        ("sent the same again", "d"),
        ("patched", "d"),
        ("change of sent again", ",.1f"),
        ("patched", ",.1f"),
        ("change of queue (ms)", ".2f"),
        ("patched", ".2f"),
    )


def left(kept: Kept) -> Sheet:
    """By flavor, with the patches: the pairs that still differ, and the largest difference."""
    rows: list[list[Value]] = []
    for flavor in FLAVORS:
        some = of_patched(kept, flavor)
        differ = [x for name in RESPONSES for x in (differing(some, name), most(some, name))]
        rows.append([flavor, len(some), count_same(some), *differ])
    heads = [
        head
        for name, title in RESPONSES.items()
        for head in ((f"{title} differs", "d"), ("at most", FORMS[name]))
    ]
    return plain(rows, "flavor", ("patched pairs", "d"), ("the same tables", "d"), *heads)


def of_patched(kept: Kept, flavor: str) -> list[Row]:
    """The changes of a flavor between both patched kernels."""
    return [row for row in kept.table(WINDOW, NAME).rows if row["flavor"] == flavor]


def differing(rows: Sequence[Row], response: str) -> int:
    """How many of the pairs have a change of a response."""
    return sum((number(row, response) or 0) != 0 for row in rows)


def most(rows: Sequence[Row], response: str) -> float:
    """The largest change of a response, without its sign."""
    return max(abs(number(row, response) or 0) for row in rows)


def _named(row: Row) -> str:
    """A place in words, as in the tables."""
    rate, rtt, queue, flows = (row[name] for name in PATH)
    many = "flow" if flows == "1" else "flows"
    return f"{row['flavor']}, {rate} Mbit/s, {rtt} ms, `{queue}`, {flows} {many}"


def window(kept: Kept) -> Numbers:
    """Of each flavor: what is left of the segments sent again, and what still differs."""
    found = pairs(kept)
    rows = kept.table(WINDOW, NAME).rows
    reno = of_patched(kept, "reno")
    numbers: dict[str, int | float | str] = {
        "seeds": len(kept.manifest(WINDOW)["seeds"]),
        "few": FEW,
        "all_pairs": len(rows),
        "all_same": count_same(rows),
        "same_place": "; ".join(_named(row) for row in rows if row["same"] == SAME),
        "reno_all": len(reno),
        "reno_efficiency": differing(reno, "efficiency"),
        "reno_efficiency_most": most(reno, "efficiency"),
        "figures_same": sum(all(number(row, name) == 0 for name in RESPONSES) for row in rows),
    }
    for flavor in FLAVORS:
        both = found[flavor]
        same, patched = unchanged(both, SENT_AGAIN)
        size, left = sizes(both, SENT_AGAIN)
        numbers |= {
            f"{flavor}_pairs": len(both),
            f"{flavor}_same": same,
            f"{flavor}_patched": patched,
            f"{flavor}_size": size,
            f"{flavor}_left": left,
            f"{flavor}_part": left / size,
            f"{flavor}_large": sum(abs(number(b[1], SENT_AGAIN) or 0) > FEW for b in both),
        }
    return numbers
