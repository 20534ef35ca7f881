# SPDX-License-Identifier: GPL-2.0-only
"""Seeds that are no replicates: trials that draw nothing leave the same record with every seed.

Their values are one observation. An interval over them would have no width, and a test against
their error would find everything significant.
"""

from collections.abc import Collection, Iterable, Sequence

from analysis.errors import TableError
from analysis.records import Trial
from analysis.table import Table

TRIAL, SEED = "trial", "seed"
WHAT_TO_DO = (
    "let the sources start at random moments"
    " (workload.start_jitter_us above 0, docs/experiments.md)"
)


def left_the_same(trials: Sequence[Trial]) -> bool:
    """Have several trials, which differ in their seeds, the same metrics?"""
    first, *others = trials
    return bool(others) and all(one.metrics == first.metrics for one in others)


def sentence(same: int, cells: int) -> str:
    """What is said where the seeds of some cells left the same figures."""
    of_cells = "the only combination" if cells == 1 else f"{same} of {cells} combinations"
    return (
        f"In {of_cells} of levels, all seeds left the same figures. Such a combination counts as"
        f" one observation and has no interval. If its sources start at fixed times, {WHAT_TO_DO}."
    )


def check_replicates(table: Table, response: str, factors: Collection[str]) -> None:
    """TableError where each set of levels has several rows, and all of them the same response.

    factors: the columns of levels. A table of trials knows its own: they come before `seed`.
    """
    if SEED in table.columns:
        factors = [name for name in table.columns[: table.columns.index(SEED)] if name != TRIAL]
    cells: dict[tuple[str, ...], list[str]] = {}
    for row in table.rows:
        cells.setdefault(tuple(row[factor] for factor in factors), []).append(row[response])
    if _repeated(cells.values()):
        raise TableError(
            f"{table.source}: all rows with the same levels have the same {response}: the seeds"
            f" changed nothing, so the error cannot be estimated; {WHAT_TO_DO}, or choose one"
            " row of each set of levels with --where"
        )


def _repeated(cells: Iterable[Collection[str]]) -> bool:
    """Is every cell's value there more than once, and never another one?"""
    return all(len(values) > 1 and len({*values}) == 1 for values in cells)
