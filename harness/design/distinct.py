# SPDX-License-Identifier: GPL-2.0-only
"""Finds two levels of a factor that mean the same: the results of one would bear two names.

Finds also the factors of one level that set nothing: such a factor may be a label, or a mistake.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.design.experiment import Design
from harness.design.hints import tables_with
from harness.design.levels import same
from harness.design.settings import is_key
from plan.plan import Level, level_name

Cell = Mapping[str, Level]


@dataclass(frozen=True)
class Alike:
    """Two levels of a factor that mean the same with all levels of the other factors."""

    factor: str
    levels: tuple[Level, Level]
    unnamed: tuple[Level, ...]
    """The levels of the two that no rule names."""

    def __str__(self) -> str:
        one, other = map(level_name, self.levels)
        said = f"factors.{self.factor}: {one} and {other} mean the same: is a rule missing?"
        if is_key(self.factor) or not self.unnamed:
            return f"{said} Both give the same plan, whatever the levels of the other factors"
        levels = " or ".join(map(level_name, self.unnamed))
        return (
            f"{said} No [[rule]] has {self.factor} = {levels} in its `when`; write a rule, or name"
            " the factor by the key that it sets, such as queue.buffer_cells"
        )


def alike(design: Design, cells: Sequence[Cell], meaning: Callable[[Cell], str]) -> Alike | None:
    """The first two levels that mean the same in every cell that has either of them.

    A level may mean the same as another in some cells: a threshold does under a policy that has
    none. It must make a difference in at least one.

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
                return Alike(factor, (one, other), tuple(unnamed))
    return None


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
        homes = [table for table, _ in tables_with().get(found[0], ())][:1]
        meant = f" (to set a key, name the factor {homes[0]}.{found[0]})" if homes else ""
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
