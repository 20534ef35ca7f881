# SPDX-License-Identifier: GPL-2.0-only
"""What changed from one kernel to the next: what is the same, and by how much the rest differs.

Trials of one path and one seed are compared, so each row is a difference of two trials. A mean over
paths is one observation for each seed, and its interval is over the seeds.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from analysis.cells import Cell
from analysis.compare.difference import changed_files
from analysis.kept import Kept, number
from analysis.records import Trial
from analysis.report.model import Column, Section, Sheet, Value, plain, signed
from analysis.report.results import Results
from analysis.statistics import Estimate, estimate
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
DIGITS = {"efficiency": 3, "fairness": 3, "queue_delay_ms": 1, "retransmits": 0}
"""Of a mean difference, after the point."""
PATH = ("rate", "rtt", "queue", "flows")
SAME = "yes"


def changes(results: Results) -> Section | None:
    """A row a path, seed and pair of kernels that follow each other; None of other factors."""
    if not set(STUDY.cell) <= set(results.campaign.factors):
        return None
    path = [factor for factor in results.factors if factor != "kernel"]
    columns = [
        *(Column(name=factor, title=STUDY.heading(factor)) for factor in path),
        *(Column(name=name, title=name) for name in ("from", "to", "seed", "same")),
        *(Column(name=name, title=title, form="+.4g") for name, title in RESPONSES.items()),
    ]
    found = {(cell.levels["kernel"], *levels(cell, path)): cell for cell in results.every_cell}
    rows = [
        [*place, old, new, *_row(*trials)]
        for place in dict.fromkeys(levels(cell, path) for cell in results.every_cell)
        for old, new in pairwise(results.campaign.levels("kernel"))
        if {(old, *place), (new, *place)} <= found.keys()
        for trials in same_seed(found[old, *place], found[new, *place])
    ]
    text = (
        'We compare two trials with the same settings and the same seed on two kernels. "same" is '
        "yes if all tables of both records (windows, queue, what each flow received) are the same "
        "byte for byte. The other columns show the later kernel's figure minus the earlier one's."
    )
    if not rows:
        text = "This campaign has no pair of trials on two kernels, so this table is empty."
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
    """The trials of both cells, by their seeds; a seed without both records is left out."""
    before, after = (
        {trial.seed: trial for trial in cell.trials if trial.folder.is_dir()} for cell in (old, new)
    )
    return [(trial, after[seed]) for seed, trial in before.items() if seed in after]


def _row(old: Trial, new: Trial) -> list[Value]:
    changed = any(name.endswith(".csv") for name in changed_files(old, new))
    return [old.seed, "no" if changed else SAME, *(_difference(old, new, r) for r in RESPONSES)]


def _difference(old: Trial, new: Trial, response: str) -> float | None:
    """The later kernel's less the earlier one's; None where either has no value."""
    before, after = old.metrics.get(response), new.metrics.get(response)
    return None if before is None or after is None else after - before


def table(kept: Kept) -> Sheet:
    """By pair of kernels and flavor: how many trials are the same, and mean differences."""
    lines = [_line(key, rows) for key, rows in grouped(kept).items()]
    counts = [(name, "d") for name in ("pairs of trials", "the same", "pairs in the means")]
    return plain(lines, "from", "to", "flavor", *counts, *RESPONSES.values())


def grouped(kept: Kept) -> dict[tuple[str, ...], list[Row]]:
    """The kept changes by earlier kernel, later kernel and flavor."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in kept.table(CAMPAIGN, NAME).rows:
        groups.setdefault(tuple(row[name] for name in ("from", "to", "flavor")), []).append(row)
    return groups


def changed(
    kept: Kept, campaign: str, factors: Sequence[str], response: str
) -> dict[tuple[str, ...], list[float]]:
    """(earlier kernel, later kernel, levels of the factors) -> a response's changes, one a seed."""
    found: dict[tuple[str, ...], list[float]] = {}
    for row in kept.table(campaign, NAME).rows:
        if (x := number(row, response)) is not None:
            place = tuple(row[name] for name in ("from", "to", *factors))
            found.setdefault(place, []).append(x)
    return found


def count_same(rows: Sequence[Row]) -> int:
    """How many of them have the same tables on both kernels."""
    return sum(row["same"] == SAME for row in rows)


def mean_change(rows: Sequence[Row], response: str) -> Estimate | None:
    """The mean over the paths, with its interval over the seeds; None without values.

    Only paths with a value for each seed count, so that no path weighs more in one seed.
    """
    found = whole_paths(rows, response)
    if not found:
        return None
    seeds = sorted({seed for _, seed in found})
    return estimate([fmean(x for (_, of), x in found.items() if of == seed) for seed in seeds])


def whole_paths(rows: Sequence[Row], response: str) -> dict[tuple[tuple[str, ...], str], float]:
    """(path, seed) -> the change, of the paths that have a value for each seed."""
    found = {
        (_path(row), row["seed"]): x for row in rows if (x := number(row, response)) is not None
    }
    seeds = {seed for _, seed in found}
    return {
        (path, seed): x
        for (path, seed), x in found.items()
        if all((path, other) in found for other in seeds)
    }


def _path(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in PATH)


def _line(key: Sequence[str], rows: Sequence[Row]) -> list[Value]:
    means = (_shown(mean_change(rows, response), digits) for response, digits in DIGITS.items())
    in_means = len(whole_paths(rows, next(iter(DIGITS))))
    return [*key, len(rows), count_same(rows), in_means, *means]


def _shown(change: Estimate | None, digits: int) -> str | None:
    """A mean with half its interval, where several seeds give one."""
    if change is None:
        return None
    mean = signed(f"{change.mean:+,.{digits}f}")
    return mean if change.half_width is None else f"{mean} ± {change.half_width:,.{digits}f}"
