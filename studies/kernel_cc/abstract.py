# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from collections.abc import Sequence
from statistics import fmean

from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.table import Row
from studies.kernel_cc.changes import NAME, SAME
from studies.kernel_cc.study import STUDY

CAMPAIGN = "kernel-cc"


def abstract(kept: Kept) -> Numbers:
    """Trials that are the same from kernel to kernel, and the largest mean change."""
    first, middle, last = STUDY.cell["kernel"]
    flavors = STUDY.cell["flavor"]
    cells = kept.cells(CAMPAIGN).rows
    earlier, later = (_by_flavor(kept, *pair) for pair in ((first, middle), (middle, last)))
    changes = {
        (flavor, to): fmean(float(row["efficiency"]) for row in found[flavor] if row["efficiency"])
        for found, to in ((earlier, middle), (later, last))
        for flavor in flavors
    }
    flavor, to = max(changes, key=lambda place: abs(changes[place]))
    same = {f"{name}_same": _same(later[name]) for name in flavors}
    return {
        **same,
        **{f"{name}_trials": len(later[name]) for name in flavors},
        "trials": len(cells),
        "seeds": max(int(row["seeds"]) for row in cells),
        "first": first,
        "middle": middle,
        "last": last,
        "earlier_same": sum(map(_same, earlier.values())),
        "earlier_trials": sum(map(len, earlier.values())),
        "largest": changes[flavor, to],
        "largest_flavor": flavor,
        "largest_to": to,
    }


def _by_flavor(kept: Kept, old: str, new: str) -> dict[str, list[Row]]:
    rows = [
        row for row in kept.table(CAMPAIGN, NAME).rows if (row["from"], row["to"]) == (old, new)
    ]
    return {
        flavor: [row for row in rows if row["flavor"] == flavor] for flavor in STUDY.cell["flavor"]
    }


def _same(rows: Sequence[Row]) -> int:
    return sum(row["same"] == SAME for row in rows)
