# SPDX-License-Identifier: GPL-2.0-only
"""Finds two levels of a factor that mean the same: the results of one would bear two names.

They must differ with each combination of the other factors' levels. Two levels may lead to the same
plan where the file itself tells them apart: with the policy plain, a threshold changes nothing.

Finds also the factors of one level that set nothing: such a factor may be a label, or a mistake.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from harness.design.experiment import Design
from harness.design.hints import key_meant
from harness.design.levels import same
from harness.design.settings import is_key
from plan import plan
from plan.plan import Level, Plan, level_name

Cell = Mapping[str, Level]
WRITE_A_RULE = (
    "write a rule, or name the factor by the key that it sets, such as queue.buffer_cells"
)
MOST_NAMED = 3  # levels that a sentence lists


class PlannedCell(Protocol):
    """What is to be run: the levels of its cell, and what they mean."""

    @property
    def factors(self) -> Cell: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def kernel(self) -> Path | None: ...
    @property
    def receiver(self) -> Path | None: ...


@dataclass(frozen=True)
class Alike:
    """Two levels of a factor that mean the same with some levels of the other factors.

    Attributes:
        unnamed: the levels of the two that no rule names.
        where: the levels of the other factors, in words; "": with all of them.
        cells: the first two cells that mean the same.
        key: what the factor's name was meant to be; "": it is like no key, or is one.
        unused: whether no trial would differ if the key of the factor's name were not set.
    """

    factor: str
    levels: tuple[Level, Level]
    unnamed: tuple[Level, ...] = ()
    where: str = ""
    cells: tuple[Cell, ...] = ()
    key: str = ""
    unused: bool = False

    def __str__(self) -> str:
        if self.where:
            return (
                f"{self.beginning}: is a rule missing? No [[rule]] tells them apart there; write a"
                " rule, or leave these combinations out with [[only]]"
            )
        if is_key(self.factor):
            return f"{self.beginning}: {self.of_key}"
        said = f"{self.beginning}: is a rule missing?"
        if not self.unnamed:
            return f"{said} Both lead to the same trials, whatever the levels of the other factors"
        levels = " or ".join(map(level_name, self.unnamed))
        meant = f"did you mean {self.key}? If not, write a rule" if self.key else WRITE_A_RULE
        return f"{said} No [[rule]] has {self.factor} = {levels} in its `when`; {meant}"

    @property
    def of_key(self) -> str:
        """Why two values of a key mean the same."""
        if self.unused:
            return (
                f"no trial of this file uses {self.factor}; leave this factor out, or add a level"
                " of another factor that uses it"
            )
        return "cellbed rounds both to the same value; choose levels that differ by more"

    @property
    def beginning(self) -> str:
        """Which levels mean the same, and where."""
        one, other = map(level_name, self.levels)
        where = f" with {self.where}" if self.where else ""
        return f"factors.{self.factor}: {one} and {other} mean the same{where}"


def alike(design: Design, cells: Sequence[Cell], meaning: Callable[[Cell], str]) -> Alike | None:
    """The first two levels that mean the same in every cell that has either of them.

    Or the first two that the file does not tell apart in some cells: both have the same settings
    there. A key of the same name as the factor always tells its levels apart.

    Args:
        cells: all of the design.
        meaning: of a cell, whatever its levels are called.
    """
    for factor, levels in design.factors.items():
        others = by_others(cells, factor) if len(levels) > 1 else ()
        for one, other in itertools.combinations(levels, 2):
            both = [(found[one], found[other]) for found in others if {one, other} <= found.keys()]
            if both and all(meaning(first) == meaning(second) for first, second in both):
                unnamed = [x for x in (one, other) if not is_named(design, factor, x)]
                key = key_meant(factor, design.settings(cells[0]))
                return Alike(factor, (one, other), tuple(unnamed), key=key)
    return alike_in_part(design, cells, meaning)


def without(design: Design, factor: str) -> Design:
    """The design without a factor that is a key, and without all that sets the key."""
    rules = [
        replace(rule, set=dropped(rule.set, factor.split(".")))
        for rule in design.rule
        if factor not in rule.when
    ]
    only = [{f: levels for f, levels in part.items() if f != factor} for part in design.only]
    factors = {f: levels for f, levels in design.factors.items() if f != factor}
    base = dropped(design.base, factor.split("."))
    return replace(design, factors=factors, rule=rules, only=only, base=base)


def dropped(table: Mapping[str, Any], key: Sequence[str]) -> dict[str, Any]:
    """Nested tables without a key, of which these are the parts."""
    first, *rest = key
    kept = {name: value for name, value in table.items() if rest or name != first}
    if rest and isinstance(kept.get(first), Mapping):
        kept[first] = dropped(kept[first], rest)
    return kept


def alike_in_part(
    design: Design, cells: Sequence[Cell], meaning: Callable[[Cell], str]
) -> Alike | None:
    """The first two levels of a factor that have the same settings in some cells.

    A cell with a mistake means nothing: its mistake is told when it is to run.
    """
    factors = [name for name, levels in design.factors.items() if len(levels) > 1]
    if all(map(is_key, factors)):
        return None
    settings = [as_text(design.settings(cell)) for cell in cells]
    found = (equal_levels(name, cells, settings) for name in factors if not is_key(name))
    return next(
        (one for one in found if one and len({meaning(cell) for cell in one.cells}) == 1), None
    )


def equal_plans(design: Design, trials: Iterable[PlannedCell], origin: Path) -> list[str]:
    """A sentence with a line for each factor of which two levels lead to one plan in some cells.

    trials: of one seed; they may have more factors than the design.
    """
    known = list(trials)
    cells = [dict(one.factors) for one in known]
    plans = [
        (as_text(plan.to_json(replace(one.plan, factors={}))), one.kernel, one.receiver)
        for one in known
    ]
    found = (equal_levels(name, cells, plans) for name in (cells[0] if cells else ()))
    said = "{}; their trials give equal figures"
    return [str(design.sources.refusal(origin, said.format(x.beginning))) for x in found if x]


def as_text(value: object) -> str:
    """A value of plain types as a text: equal values have equal texts."""
    return json.dumps(value, sort_keys=True, default=str)


def equal_levels(factor: str, cells: Sequence[Cell], meanings: Sequence[Hashable]) -> Alike | None:
    """The first two levels of a factor with cells that mean the same but for these levels."""
    of = {tuple(cell.values()): meaning for cell, meaning in zip(cells, meanings, strict=True)}
    others = by_others(cells, factor)
    for found in others:
        first: dict[Hashable, Level] = {}
        for level, cell in found.items():
            one = first.setdefault(of[tuple(cell.values())], level)
            if one != level:
                return of_pair(factor, (one, level), others, of)
    return None


def of_pair(
    factor: str, levels: tuple[Level, Level], others: Sequence[Mapping[Level, Cell]],
    meanings: Mapping[tuple[Level, ...], Hashable],
) -> Alike:  # fmt: skip
    """Two levels, and where they mean the same."""
    both = [[found[level] for level in levels] for found in others if {*levels} <= found.keys()]
    same_there = [
        pair for pair in both if len({meanings[tuple(cell.values())] for cell in pair}) == 1
    ]
    where = in_words(factor, [first for first, _ in same_there], [first for first, _ in both])
    return Alike(factor, levels, where=where, cells=tuple(same_there[0]))


def in_words(factor: str, some: Sequence[Cell], every: Sequence[Cell]) -> str:
    """What tells some cells from every cell: levels of factors other than `factor`.

    "" if these are all cells; the levels of the first cell if no few words name them all.
    """
    names = [name for name in some[0] if name != factor]
    levels = {name: list(dict.fromkeys(cell[name] for cell in some)) for name in names}
    fewer = [name for name in names if len(levels[name]) < len({cell[name] for cell in every})]
    named = [cell for cell in every if all(cell[name] in levels[name] for name in fewer)]
    if len(named) != len(some):
        fewer, levels = names, {name: [some[0][name]] for name in names}
    return " and ".join(f"{name} {some_of(levels[name])}" for name in fewer)


def some_of(levels: Sequence[Level]) -> str:
    """The first of some levels, in words."""
    more = len(levels) - MOST_NAMED
    names = [level_name(level) for level in levels[:MOST_NAMED]]
    return " or ".join([*names, *([f"{more} more"] if more > 0 else [])])


def labels(design: Design, origin: Path) -> str:
    """What is said of the factors of one level that set nothing, with a line; "" without any."""
    found = [
        factor
        for factor, levels in design.factors.items()
        if len(levels) == 1 and not is_key(factor) and not is_named(design, factor, levels[0])
    ]
    if not found:
        return ""
    if len(found) > 1:
        several = f"the factors {', '.join(found[:-1])} and {found[-1]} set nothing, because no"
        said = f"{several} [[rule]] names them; they are only labels in the results"
    else:
        key = key_meant(found[0])
        meant = f" (to set a key, name the factor {key})" if key else ""
        said = (
            f"the factor {found[0]} sets nothing, because no [[rule]] names it; it is only a label"
            f" in the results{meant}"
        )
    place = f"factors.{found[0]} = {level_name(design.factors[found[0]][0])}"
    return str(design.sources.refusal(origin, f"{place}: {said}"))


def by_others(cells: Sequence[Cell], factor: str) -> list[dict[Level, Cell]]:
    """For each combination of the other factors' levels: the cell of each level of this one."""
    found: dict[tuple[Level, ...], dict[Level, Cell]] = {}
    for cell in cells:
        rest = tuple(level for name, level in cell.items() if name != factor)
        found.setdefault(rest, {})[cell[factor]] = cell
    return list(found.values())


def is_named(design: Design, factor: str, level: Level) -> bool:
    """Does a rule name this level?"""
    return any(same(level, known) for rule in design.rule for known in rule.when.get(factor, ()))
