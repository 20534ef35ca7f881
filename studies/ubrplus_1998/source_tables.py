# SPDX-License-Identifier: GPL-2.0-only
"""Tables 4 to 12 of 98-0876R1 beside ours: cells, allocation of variation, main effects.

Ours are analysed as the source analysed its single draw (section 8.1): one figure a cell, here its
mean over the seeds; main effects and first-order interactions; 90 % intervals.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from analysis.anova import Anova, Effect, analyse
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from analysis.table import Row, Table, read_csv
from studies.ubrplus_1998.cells import RESPONSES, cells_of
from studies.ubrplus_1998.study import CELL

FOLDER = Path(__file__).parent
TEXT = "ubrplus-www-text"
MINIMA = ("2 ticks", "1 s")
FACTORS = ("flavor", "policy", "buffer")
PUBLISHED = "published"
COLUMNS: Mapping[str, str] = {
    "published": PUBLISHED,
    **{f"ours, minimum {minimum}": minimum for minimum in MINIMA},
}
"""Title of a column -> the minimum of the timeout, or that it is the source's."""


def cells(kept: Kept) -> Sheet:
    """Tables 4, 7 and 10: efficiency and fairness of each cell."""
    found = {
        minimum: {_place(row): row for row in cells_of(kept, TEXT, minimum=minimum)}
        for minimum in MINIMA
    }
    rows: list[list[Value]] = []
    for place in found[MINIMA[0]]:
        values = [
            float(text) if (text := of[place][name]) else None
            for response in RESPONSES
            for of, name in (
                (found[MINIMA[0]], f"{response}_published"),
                *((found[minimum], response) for minimum in MINIMA),
            )
        ]
        rows.append([*place, *values])
    heads = [(f"{response}, {title}", ".3f") for response in RESPONSES for title in COLUMNS]
    return plain(rows, "network", *FACTORS, *heads)


def _place(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("network", *FACTORS))


def allocation(kept: Kept) -> Sheet:
    """Tables 5, 8 and 11, as printed, and ours: how much of the variation each part explains."""
    rows: list[list[Value]] = []
    for network, response, analyses in _analyses(kept):
        for component in (*analyses[0].components, analyses[0].error):
            name = " × ".join(component.factors) or "error"
            ours = [_percent(one, component.factors) for one in analyses[1:]]
            printed = _printed(network, response, component.factors)
            rows.append([network, response, name, printed, *ours])
    heads = [(title, ".2f") for title in COLUMNS]
    return plain(rows, "network", "response", "component", *heads)


def effects(kept: Kept) -> Sheet:
    """Tables 6, 9 and 12: each main effect with its interval."""
    rows: list[list[Value]] = []
    for network, response, analyses in _analyses(kept):
        for effect in analyses[0].effects:
            [factor], [level] = effect.factors, effect.levels
            shown = [_interval(one.effect(factor, level)) for one in analyses]
            rows.append([network, response, factor, level, *shown])
    return plain(rows, "network", "response", "factor", "level", *COLUMNS)


def _analyses(kept: Kept) -> Iterator[tuple[str, str, list[Anova]]]:
    """Network, response, and the analysis of each column."""
    for network in CELL["network"]:
        for response in RESPONSES:
            yield (
                network,
                response,
                [_analysis(kept, network, response, column) for column in COLUMNS.values()],
            )


def _analysis(kept: Kept, network: str, response: str, column: str) -> Anova:
    """Of the source's own cells, or of the means with one minimum."""
    published = column == PUBLISHED
    rows = cells_of(kept, TEXT, network=network, minimum=MINIMA[0] if published else column)
    name = f"{response}_{PUBLISHED}" if published else response
    table = Table(
        columns=(*FACTORS, name),
        rows=tuple({key: row[key] for key in (*FACTORS, name)} for row in rows),
        source=f"{TEXT}, {network}",
    )
    return analyse(table, name, FACTORS)


def _printed(network: str, response: str, factors: tuple[str, ...]) -> float | None:
    """The percentage that the paper prints; None of the error, which it does not print."""
    names = {frozenset(row["component"].split("-")): row for row in _allocation(network)}
    row = names.get(frozenset(SOURCE_NAMES[factor] for factor in factors))
    return float(row[f"{response}_percent"]) if row else None


@cache
def _allocation(network: str) -> tuple[Row, ...]:
    """A network's lines of tables 5, 8 and 11."""
    rows = read_csv(FOLDER / "published" / "allocation_of_variation.csv").rows
    return tuple(row for row in rows if row["network"] == network)


SOURCE_NAMES = {"flavor": "TCP Flavor", "policy": "Drop Policy", "buffer": "Buffer Size"}


def _percent(analysis: Anova, factors: tuple[str, ...]) -> float:
    return (analysis.component(*factors) if factors else analysis.error).percent


def _interval(effect: Effect) -> str:
    """An effect and half its interval; a star where the interval is without 0."""
    mark = " *" if effect.significant else ""
    return f"{signed(f'{effect.effect:+.3f}')} ± {effect.high - effect.effect:.3f}{mark}"
