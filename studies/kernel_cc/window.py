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
from studies.kernel_cc.changes import CAMPAIGN, NAME, PATH

WINDOW = "kernel-window"
OLD, NEW = "6.1", "6.12"
FLAVORS = ("reno", "cubic", "bbr")
SENT_AGAIN, QUEUE = "retransmits", "queue_delay_ms"
FEW = 5
"""Segments sent again: a change up to this is counted as small."""
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


def window(kept: Kept) -> Numbers:
    """Of reno and cubic: what is left of the segments sent again."""
    found = pairs(kept)
    numbers: dict[str, int | float | str] = {
        "seeds": len(kept.manifest(WINDOW)["seeds"]),
        "few": FEW,
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
