# SPDX-License-Identifier: GPL-2.0-only
"""What changed from one kernel to the next: what is the same, and by how much the rest differs."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from analysis.cells import Cell
from analysis.compare.difference import changed_files
from analysis.kept import Kept, number
from analysis.records import Trial
from analysis.report.model import Column, Section, Sheet, Value, plain
from analysis.report.results import Results
from analysis.report.sentences import Numbers
from analysis.statistics import estimate
from analysis.table import Row
from studies.kernel_cc.study import STUDY

NAME = "changes"
CAMPAIGN = "kernel-cc"
RESPONSES = {
    "efficiency": "efficiency",
    "fairness": "fairness",
    "queue_delay_ms": "queue (ms)",
    "retransmits": "sent again",
}
SAME = "yes"


def changes(results: Results) -> Section | None:
    """A row a cell and pair of kernels that follow each other; None of other factors."""
    if not set(STUDY.cell) <= set(results.campaign.factors):
        return None
    text = (
        "The same: all tables of both records (windows, queue, what each flow received) are so, "
        "byte for byte. Else by how much the later kernel differs. Trials of one seed are compared."
    )
    path = [factor for factor in results.factors if factor != "kernel"]
    columns = [
        *(Column(name=factor, title=STUDY.heading(factor)) for factor in path),
        *(Column(name=name, title=name) for name in ("from", "to", "same")),
        *(Column(name=name, title=title, form="+.4g") for name, title in RESPONSES.items()),
    ]
    found = {(cell.levels["kernel"], *levels(cell, path)): cell for cell in results.every_cell}
    rows = [
        [*place, *_row(found[old, *place], found[new, *place])]
        for place in dict.fromkeys(levels(cell, path) for cell in results.every_cell)
        for old, new in pairwise(results.campaign.levels("kernel"))
        if {(old, *place), (new, *place)} <= found.keys()
        and same_seed(found[old, *place], found[new, *place])
    ]
    sheet = Sheet(
        name=NAME,
        caption="What changed from kernel to kernel",
        columns=columns,
        rows=rows,
        heads=len(path) + 2,
    )
    return Section(id=NAME, title="From kernel to kernel", paragraphs=[text], parts=[sheet])


def levels(cell: Cell, factors: Sequence[str]) -> tuple[str, ...]:
    """A cell's levels of some factors."""
    return tuple(cell.levels[factor] for factor in factors)


def same_seed(old: Cell, new: Cell) -> list[tuple[Trial, Trial]]:
    """The trials of both cells, by their seeds; one that either has not is left out."""
    after = {trial.seed: trial for trial in new.trials}
    return [(trial, after[trial.seed]) for trial in old.trials if trial.seed in after]


def _row(old: Cell, new: Cell) -> list[Value]:
    pairs = same_seed(old, new)
    changed = any(name.endswith(".csv") for pair in pairs for name in changed_files(*pair))
    return [
        *(cell.levels["kernel"] for cell in (old, new)),
        "no" if changed else SAME,
        *(_difference(pairs, name) for name in RESPONSES),
    ]


def _difference(pairs: Sequence[tuple[Trial, Trial]], response: str) -> float | None:
    """The later kernel's less the earlier one's, over the seeds for which both have it."""
    values = [(old.metrics.get(response), new.metrics.get(response)) for old, new in pairs]
    known = [b - a for a, b in values if a is not None and b is not None]
    return fmean(known) if known else None


def table(kept: Kept) -> Sheet:
    """By pair of kernels and flavor: how many trials are the same, and mean differences."""
    means = zip(RESPONSES.values(), ("+.3f", "+.3f", "+.1f", "+,.0f"), strict=True)
    lines = [_line(key, rows) for key, rows in grouped(kept).items()]
    return plain(lines, "from", "to", "flavor", ("trials", "d"), ("the same", "d"), *means)


def grouped(kept: Kept) -> dict[tuple[str, ...], list[Row]]:
    """The kept changes by earlier kernel, later kernel and flavor."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in kept.table(CAMPAIGN, NAME).rows:
        groups.setdefault(tuple(row[name] for name in ("from", "to", "flavor")), []).append(row)
    return groups


def count_same(rows: Sequence[Row]) -> int:
    """How many of them have the same tables on both kernels."""
    return sum(row["same"] == SAME for row in rows)


def bbr_again(kept: Kept) -> Numbers:
    """What bbr sends again on the last kernel less the one before, over the paths.

    The paths are taken as a sample: the interval is over them, for each has one seed.
    """
    old, new = STUDY.cell["kernel"][-2:]
    rows = grouped(kept)[old, new, "bbr"]
    found = [float(row["retransmits"]) for row in rows]
    most = max(range(len(found)), key=lambda place: abs(found[place]))
    whole = estimate(found)
    path = rows[most]
    return {
        "mean": whole.mean,
        "size": abs(whole.mean),
        "half": whole.half_width,
        "trials": whole.n,
        "without": fmean(found[:most] + found[most + 1 :]),
        "place": f"{path['rate']} Mbit/s, {path['rtt']} ms, {path['queue']}, {path['flows']} flows",
        "same": count_same(rows),
    }


def _line(key: Sequence[str], rows: Sequence[Row]) -> list[Value]:
    known = [[x for row in rows if (x := number(row, name)) is not None] for name in RESPONSES]
    return [*key, len(rows), count_same(rows), *(fmean(some) if some else None for some in known)]
