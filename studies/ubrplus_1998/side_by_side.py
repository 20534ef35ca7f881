# SPDX-License-Identifier: GPL-2.0-only
"""The three tables of each network beside each other: kernel, simulation, paper; and its claims."""

from collections.abc import Mapping, Sequence

from analysis.cells import Cell
from analysis.predictions import against
from analysis.report.headings import factor_column, named
from analysis.report.model import Column, Section, Sheet, Value
from analysis.report.results import Results
from analysis.study import Prediction, Response

MOST_VARIANTS = 3
"""More readings than these are no longer read beside each other."""

Figures = Mapping[tuple[str | None, ...], float]
"""Of a cell, by its levels."""


def side_by_side(results: Results) -> Section | None:
    """A table a network, and the verdict on each claim under each reading; None for many."""
    if not results.every_cell or len(results.variants) > MOST_VARIANTS:
        return None
    sheets = [_cells(results, group) for group in results.groups]
    if len(results.by_variant) > 1:
        sheets.append(_verdicts(results))
    text = (
        "Means over the seeds. The simulation is of the same trials, so it stands only beside "
        "readings that it has simulated."
    )
    return Section(
        id="side-by-side", title="Kernel, simulation, paper", paragraphs=[text], parts=sheets
    )


def _cells(results: Results, group: str) -> Sheet:
    factors = [factor for factor in results.study.cell if factor != results.study.by]
    columns = [factor_column(results.study, factor) for factor in factors]
    rows: dict[tuple[str | None, ...], list[Value]] = {}
    for cell in results.every(group):
        rows.setdefault(_key(cell, factors), list(_key(cell, factors)))
    for response in results.study.means:
        for name, figures in _columns(results, group, response, factors).items():
            title = f"{response.name}, {name}"
            columns.append(Column(name=title, title=title.capitalize(), form=response.form))
            for key, row in rows.items():
                row.append(figures.get(key))
    return Sheet(
        name=named("side-by-side", group),
        caption=group,
        columns=columns,
        rows=list(rows.values()),
        heads=len(factors),
    )


def _columns(
    results: Results, group: str, response: Response, factors: Sequence[str]
) -> dict[str, Figures]:
    """The kernel's figures of each reading, its simulation's beside them; then the paper's."""
    found: dict[str, Figures] = {}
    paper: dict[tuple[str | None, ...], float] = {}
    for variant, cells in results.variants.items():
        reading = f" ({variant})" if variant else ""
        own = [cell for cell in cells if cell in results.every(group)]
        found[f"kernel{reading}"] = _measured(own, response, factors)
        for prediction in results.study.predictions:
            if simulated := _simulated(own, prediction, response, factors):
                found[f"simulation {prediction.name}{reading}"] = simulated
        paper |= {
            _key(cell, factors): cell.published[response.name]
            for cell in own
            if response.name in cell.published
        }
    return {**found, "paper": paper}


def _key(cell: Cell, factors: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(cell.levels.get(factor) for factor in factors)


def _measured(cells: Sequence[Cell], response: Response, factors: Sequence[str]) -> Figures:
    means = {_key(cell, factors): cell.mean(response.name) for cell in cells}
    return {key: mean for key, mean in means.items() if mean is not None}


def _simulated(
    cells: Sequence[Cell], prediction: Prediction, response: Response, factors: Sequence[str]
) -> Figures:
    found = against(cells, prediction, response.name)
    return {_key(one.cell, factors): one.predicted for one in found}


def _verdicts(results: Results) -> Sheet:
    names = list(results.by_variant)
    columns = [
        Column(name="sentence", title="Sentence"),
        Column(name="source", title="Section"),
        *(Column(name=name, title=name) for name in names),
    ]
    rows = [
        [same[0][0].sentence, same[0][0].source, *(finding.verdict.value for _, finding in same)]
        for same in zip(*results.by_variant.values(), strict=True)
    ]
    return Sheet(name="verdicts", caption="Its sentences, by reading", columns=columns, rows=rows)
