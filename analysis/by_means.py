# SPDX-License-Identifier: GPL-2.0-only
"""A study's claims judged by the kept means of its cells alone.

The records of a campaign may be gone, and its claims may have changed since they were judged. The
kept cells.csv has the mean of each cell. Here it stands as if it were the only figure of its cell,
as a published table has one: the verdicts are by the figures themselves, and by the source's own
error where a claim is about an analysis of variance. Nothing of this has an interval over seeds.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from analysis.cells import Cell, published_cells
from analysis.claims import Claim, Evidence, Finding, Method, claims_of
from analysis.claims.checks import Check
from analysis.claims.reading import WIDER
from analysis.kept import number
from analysis.study import Study
from analysis.table import Row

Judged = Sequence[tuple[Claim, Finding]]


def of_rows(
    rows: Iterable[Row],
    study: Study,
    checks: Mapping[str, Check],
    but: Container[str] = frozenset(),
) -> Judged:
    """What the means in lines of a kept cells.csv say of each claim; one line for each cell.

    but: ids of claims that are not judged: a check that needs the plan of a trial has none here.
    """
    claims = [claim for claim in claims_of(study, checks) if claim.id not in but]
    return _judged([_cell(row, study) for row in rows], study, claims)


def of_source(study: Study, checks: Mapping[str, Check]) -> Judged:
    """What the source's own table says of its sentences, judged by the same code."""
    return _judged(published_cells(study), study, claims_of(study, checks))


def with_two_bounds(claims: Iterable[Claim]) -> frozenset[str]:
    """The ids of the claims that stand there twice, with the first and with the wider bound."""
    names = [claim.id for claim in claims]
    wider = {name for name in names if name.endswith(WIDER)}
    return frozenset(wider | {name.removesuffix(WIDER) for name in wider})


def _judged(cells: Sequence[Cell], study: Study, claims: Iterable[Claim]) -> Judged:
    evidence = Evidence(cells, study, Method.CELL_MEANS)
    return [(claim, claim.on(evidence)) for claim in claims]


def _cell(row: Row, study: Study) -> Cell:
    """A line's cell: what stands after its seeds is figures, its responses and all else."""
    names = [*row]
    after = names[names.index("seeds") + 1 :]
    figures = {name: {1: x} for name in after if (x := number(row, name)) is not None}
    theirs = {one.name: figures.get(f"{one.name}_published") for one in study.means}
    return Cell(
        levels={factor: row[factor] for factor in study.cell},
        metrics=figures,
        published={name: by[1] for name, by in theirs.items() if by is not None},
    )
