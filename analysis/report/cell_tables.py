# SPDX-License-Identifier: GPL-2.0-only
"""The tables of cells: means, quantiles, and the distance to the source."""

from collections.abc import Mapping, Sequence
from itertools import chain

from analysis.cells import Cell, Distance
from analysis.report.headings import DIFFERENCES, Columns, Line, Lines, factor_column, named, titled
from analysis.report.metric_words import metric_title
from analysis.report.model import Column, Sheet
from analysis.report.results import Results
from analysis.statistics import quantiles
from analysis.study import Response, Study

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Quantiles of a distribution that a table has."""


def distances(found: Sequence[Distance], study: Study) -> Sheet:
    """Distance to the source by response and level of `by`."""
    columns = [
        Column(name=study.by or "cells", title=(study.by or "combinations").capitalize()),
        Column(name="response", title="Response"),
        Column(name="cells", title="Combinations", form="d"),
        *DIFFERENCES,
        Column(name="rank_correlation", title="Rank correlation", form=".3f"),
    ]
    rows: Lines = [
        [one.group or "all", *(getattr(one, column.name) for column in columns[1:])]
        for one in found
    ]
    return Sheet(
        name="distances",
        caption="The measured value minus the published value, over the combinations",
        columns=columns,
        rows=rows,
        heads=2,
    )


def cells(results: Results, group: str) -> Sheet:
    """One level of `by`: each cell's means, intervals, published values, differences."""
    factors = [factor for factor in results.factors if factor != results.study.by]
    published = ", the published value, and the difference" if results.study.published else ""
    names = [one.name for one in results.study.means]
    found = [cell.estimate(name) for cell in results.every(group) for name in names]
    sure = any(one and one.half_width for one in found)
    interval = "± half of its 95 % interval" if sure else "without an interval"
    return Sheet(
        name=named("cells", group),
        caption=titled(group, f"the mean over the seeds, {interval}{published}"),
        columns=_cell_columns(results, factors),
        rows=[_cell_row(results, cell, factors) for cell in results.every(group)],
        heads=len(factors),
    )


def every_cell(results: Results) -> Sheet:
    """All cells of a campaign in one table, for the CSV, with all that was measured."""
    factors = results.factors
    columns, more = _cell_columns(results, factors), _further(results)
    columns += [Column(name=name, title=metric_title(name), form=".6g") for name in more]
    rows = [
        [*_cell_row(results, cell, factors), *map(cell.mean, more)] for cell in results.every_cell
    ]
    return Sheet(
        name="every-cell",
        caption="All combinations",
        columns=columns,
        rows=rows,
        heads=len(factors),
    )


def _further(results: Results) -> list[str]:
    """What was measured beside the responses."""
    measured = dict.fromkeys(chain.from_iterable(cell.metrics for cell in results.every_cell))
    return [name for name in measured if name not in {one.name for one in results.study.means}]


def _cell_columns(results: Results, factors: Sequence[str]) -> Columns:
    columns = [factor_column(results.study, factor, factors) for factor in factors]
    columns.append(Column(name="seeds", title="Seeds", form="d"))
    for response in results.study.means:
        columns += _measured_columns(response)
        columns += _published_columns(response) if results.study.published else []
    return columns


def _measured_columns(response: Response) -> Columns:
    name, form = response.name, response.form
    return [
        Column(name=name, title=response.title, form=form),
        Column(name=f"{name}_half_width", title="±", form=form),
    ]


def _published_columns(response: Response) -> Columns:
    name, form = response.name, response.form
    return [
        Column(name=f"{name}_published", title="Published", form=response.published),
        Column(name=f"{name}_difference", title="Difference", form=f"+{form}"),
    ]


def _cell_row(results: Results, cell: Cell, factors: Sequence[str]) -> Line:
    row: Line = [*(cell.levels.get(factor) for factor in factors), len(cell.trials)]
    for response in results.study.means:
        found, published = cell.estimate(response.name), cell.published.get(response.name)
        row += [found.mean, found.half_width] if found else [None, None]
        row += [published, cell.difference(response.name)] if results.study.published else []
    return row


def quantiles_of(
    results: Results,
    response: Response,
    group: str,
    values: Mapping[str, Sequence[Sequence[float]]],
) -> Sheet:
    """Quantiles of a distribution in each cell (name -> its values, a sequence a seed)."""
    factors = [factor for factor in results.factors if factor != results.study.by]
    columns = [factor_column(results.study, factor, factors) for factor in factors]
    columns.append(Column(name="values", title="Values", form=",d"))
    for share in SHARES:
        name = f"q{100 * share:g}"
        columns += [
            Column(name=name, title=f"{100 * share:g} %", form=".4g"),
            Column(name=f"{name}_half_width", title="±", form=".2g"),
        ]
    rows: Lines = []
    for cell in results.every(group):
        seeds = values[cell.name]
        row: Line = [*(cell.levels.get(f) for f in factors), sum(map(len, seeds))]
        for one in quantiles(seeds, SHARES):
            row += [one.mean, one.half_width] if one else [None, None]
        rows.append(row)
    return Sheet(
        name=named(f"quantiles-{response.name}", group),
        caption=titled(
            group,
            f"the quantiles of {response.title.lower()}: the mean over the seeds with the "
            "half-width of its 95 % interval",
        ),
        columns=columns,
        rows=rows,
        heads=len(factors),
    )
