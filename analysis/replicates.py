# SPDX-License-Identifier: GPL-2.0-only
"""Seeds that are no replicates: trials that draw nothing leave the same record with every seed.

Their values are one observation. An interval over them would have no width, and a test against
their error would find everything significant.
"""

from collections.abc import Collection, Mapping, Sequence

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
    cells = _cells(table, response, factors)
    if len(_repeated(cells)) == len(cells):
        raise TableError(
            f"{table.source}: all rows with the same levels have the same {response}: the seeds"
            f" changed nothing, so the error cannot be estimated; {WHAT_TO_DO}, or choose one"
            " row of each set of levels with --where"
        )


def without_spread(table: Table, response: str, factors: Collection[str]) -> list[str]:
    """The sets of levels that have several rows, and all of them the same response, in words.

    factors: as in check_replicates().
    """
    repeated = _repeated(_cells(table, response, factors))
    varied = [name for name in _factors(table, factors) if len(table.levels(name)) > 1]
    return [
        ", ".join(f"{name}={level}" for name, level in levels.items() if name in varied)
        for levels in (dict(zip(_factors(table, factors), cell, strict=True)) for cell in repeated)
    ]


def _factors(table: Table, factors: Collection[str]) -> list[str]:
    if SEED not in table.columns:
        return [*factors]
    return [name for name in table.columns[: table.columns.index(SEED)] if name != TRIAL]


def _cells(
    table: Table, response: str, factors: Collection[str]
) -> dict[tuple[str, ...], list[str]]:
    """The responses of each set of levels."""
    names, cells = _factors(table, factors), dict[tuple[str, ...], list[str]]()
    for row in table.rows:
        cells.setdefault(tuple(row[name] for name in names), []).append(row[response])
    return cells


def _repeated(cells: Mapping[tuple[str, ...], Collection[str]]) -> list[tuple[str, ...]]:
    """The cells whose value is there more than once, and never another one."""
    return [cell for cell, found in cells.items() if len(found) > 1 and len({*found}) == 1]
