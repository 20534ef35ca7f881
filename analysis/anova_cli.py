# SPDX-License-Identifier: GPL-2.0-only
"""`cellbed anova`: the analysis of variance of any result table, as text or as JSON."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from analysis.anova import DEFAULT_CONFIDENCE, Anova, Component, analyse
from analysis.errors import TableError
from analysis.replicates import WHAT_TO_DO, check_replicates, without_spread
from analysis.table import Table, read_csv

JSON_FORMAT = "cellbed-anova/1"
WIDTH = 80
MOST_NAMED = 3  # combinations of levels in a sentence


def run(
    path: str,
    *,
    response: str,
    factors: Sequence[str],
    where: Sequence[str] = (),
    confidence: float = DEFAULT_CONFIDENCE,
    order: int | None = None,
    block: str | None = None,
    as_json: bool = False,
) -> str:
    """What `cellbed anova PATH` prints, without the last line feed.

    where: `COLUMN=VALUE` texts that select rows. If all rows of a combination of levels have the
    same response, no test and no interval is printed: both need one variance in all combinations.
    Raises AnalysisError, one line, on bad input.
    """
    table = select(read_csv(path), where)
    result = analyse(table, response, factors, confidence=confidence, order=order, block=block)
    check_replicates(table, response, factors)
    equal = without_spread(table, response, factors)
    if as_json:
        return to_json(result, equal)
    return to_text(result, differing_columns(table, result), equal)


def select(table: Table, where: Sequence[str]) -> Table:
    """The rows that meet every `COLUMN=VALUE` of `where`."""
    for condition in where:
        column, equals, value = condition.partition("=")
        if not equals:
            raise TableError(f"--where {condition} has no =; write COLUMN=VALUE")
        table = table.where(column, value)
    return table


def differing_columns(table: Table, result: Anova) -> tuple[str, ...]:
    """Other columns that are not constant among the rows taken as replications of each other.

    A forgotten factor (here: the network) hides there.
    """
    if result.replications == 1:
        return ()
    first: dict[tuple[str, ...], dict[str, str]] = {}
    found: set[str] = set()
    for row in table.rows:
        cell = first.setdefault(tuple(row[factor] for factor in result.levels), dict(row))
        found |= {column for column in table.columns if row[column] != cell[column]}
    known = {result.response, *(result.block.factors if result.block else ())}
    return tuple(name for name in table.columns if name in found - known)


def to_json(result: Anova, equal: Sequence[str] = ()) -> str:
    """The result as `cellbed-anova/1`: the fields of `Anova`, with their names.

    equal: combinations without spread. With any, they stand under `without_spread`, and f, p, low,
    high and spread are null.
    """
    document = asdict(untested(result) if equal else result)
    if equal:
        document["without_spread"] = [*equal]
        for effect in (*document["effects"], *document["interactions"]):
            effect |= {"low": None, "high": None}
    return json.dumps({"format": JSON_FORMAT} | document, indent=2, allow_nan=False)


def untested(result: Anova) -> Anova:
    """The same without tests: sums of squares and effects, which need no equal variances."""

    def plain(component: Component) -> Component:
        return replace(component, f=None, p=None)

    block = None if result.block is None else plain(result.block)
    components = tuple(map(plain, result.components))
    return replace(result, components=components, block=block, spread=None)


def to_text(result: Anova, differing: Sequence[str] = (), equal: Sequence[str] = ()) -> str:
    """The result as tables of at most 80 columns; equal: as in to_json()."""
    text = io.StringIO()
    console = Console(file=text, width=WIDTH, force_terminal=False, highlight=False, markup=False)
    result = untested(result) if equal else result
    console.print(_heading(result), soft_wrap=True)
    if differing:
        console.print(
            f"These rows count as replications, but they differ in: {', '.join(differing)}."
        )
    if equal:
        console.print(_without_spread(result.response, equal))
    if result.spread is not None and result.spread.unlike:
        console.print(f"Warning: {result.spread}.")
    console.print(_allocation(result))
    console.print(_main_effects(result, intervals=not equal))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()


def _without_spread(response: str, equal: Sequence[str]) -> str:
    more = len(equal) - MOST_NAMED
    named = "; ".join([*equal[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
    return (
        f"Warning: all rows have the same {response} in: {named}. F, p and the confidence intervals"
        " need the same variance in all combinations of levels, so they are left out. If the"
        f" seeds should change something there, {WHAT_TO_DO}."
    )


def _heading(result: Anova) -> str:
    levels = " x ".join(str(len(names)) for names in result.levels.values())
    return (
        f"{result.source}: {result.response} by {', '.join(result.levels)}\n"
        f"{result.observations} values ({levels}, {result.replications} of each), "
        f"overall mean {result.overall_mean:.6g}, standard error {result.standard_error:.4g}"
    )


def _allocation(result: Anova) -> Grid:
    grid = Grid(title="Allocation of variation", box=box.SIMPLE, title_justify="left")
    grid.add_column("Component", overflow="fold")
    for name in ("Sum of squares", "%", "df", "F", "p"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_row("individual values", f"{result.individual_values:.4f}")
    grid.add_row("overall mean", f"{result.mean_sum_of_squares:.4f}")
    grid.add_row("total variation", f"{result.total_variation:.4f}", "100.00")
    for component in (*result.components, *([result.block] if result.block else []), result.error):
        grid.add_row(" x ".join(component.factors) or "error", *_figures(component))
    return grid


def _figures(component: Component) -> tuple[str, ...]:
    return (
        f"{component.sum_of_squares:.4f}",
        f"{component.percent:.2f}",
        str(component.degrees_of_freedom),
        "" if component.f is None else f"{component.f:.2f}",
        "" if component.p is None else f"{component.p:.2g}",
    )


def _main_effects(result: Anova, *, intervals: bool) -> Grid:
    percent = f"{100 * result.confidence:g} %"
    with_intervals = f" with {percent} confidence intervals (* excludes 0)" if intervals else ""
    grid = Grid(title=f"Main effects{with_intervals}", box=box.SIMPLE, title_justify="left")
    for name in ("Factor", "Level"):
        grid.add_column(name, overflow="fold")
    for name in ("Effect", *(("From", "To", "") if intervals else ())):
        grid.add_column(name, justify="right", no_wrap=True)
    for effect in result.effects:
        figures = [f"{value:+.4f}" for value in (effect.effect, effect.low, effect.high)]
        shown = [*figures, "*" if effect.significant else ""] if intervals else figures[:1]
        grid.add_row(effect.factors[0], effect.levels[0], *shown)
    return grid
