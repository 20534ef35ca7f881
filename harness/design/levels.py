# SPDX-License-Identifier: GPL-2.0-only
"""Levels of factors: their names, when two are the same, and the keys that they set."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from plan.plan import Level
from plan.schema import MOST_SHOWN, as_written

MOST_LETTERS = 64  # of a level's name
COLUMNS = frozenset({
    *"trial seed seeds plan digest virtual_s wall_s ended checks valid name title values".split(),
    *"efficiency fairness capacity_bit_per_s retransmits timeouts answered".split(),
    *"peak_cells wasted_share paper eff. fair.".split(), "virt s", "wall s",
})  # fmt: skip
"""Columns of the tables of results; a factor of the same name could not be told from them."""


def listed(levels: Any) -> Any:
    """One level as a list of one."""
    return levels if isinstance(levels, list) else [levels]


def check_name(place: str, name: Level) -> None:
    """ValueError for a factor or level that would not do as part of a file's name or an option."""
    text = str(name)
    if isinstance(name, str) and not (
        len(text) <= MOST_LETTERS
        and text[:1].isalnum()
        and text == text.rstrip()
        and text.isprintable()
        and not set(text) & set(",=")
    ):
        cut = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
        raise ValueError(
            f"{place}: {cut!r}: a name must have 1 to 64 printable characters, the first a letter"
            " or digit, the last no blank, no comma, no ="
        )


def check_no_column(factor: str) -> None:
    """ValueError for a factor with the name of a column of the tables of results."""
    if factor.casefold() in COLUMNS:
        raise ValueError(
            f"factors.{factor}: the tables of results use this name for something else; choose"
            " another name for the factor"
        )


def check_different(place: str, levels: Sequence[Level]) -> None:
    """ValueError for no levels, or for two that are the same, even if written as 1 and 1.0."""
    if not levels:
        raise ValueError(f"{place} = []: a factor needs at least one level")
    found: dict[object, Level] = {}
    for level in levels:
        key = canonical(level)
        if key in found:
            one, other = as_written(found[key]), as_written(level)
            same_as = "stands there twice" if one == other else f"is the same level as {one}"
            raise ValueError(f"{place}: {other} {same_as}; remove one of them")
        found[key] = level


@lru_cache(maxsize=1024, typed=True)
def canonical(level: Hashable) -> object:
    """What two levels have in common that are the same: 1, 1.0 and "1"; "EPD" and "epd"."""
    for kind in (int, float):
        try:
            number = kind(str(level))
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return str(level).casefold()


def same(one: Hashable, other: Hashable) -> bool:
    """Are two levels the same, whatever their case and whether 1 or 1.0?"""
    return canonical(one) == canonical(other)


def nested(key: str, value: object) -> dict[str, Any]:
    """The tables in which a dotted key has a value."""
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def value_at(table: Mapping[str, Any], key: str) -> list[Any]:
    """What nested tables set a dotted key to, or a table that it is in; nothing: they do not."""
    value: Any = table
    for part in key.split("."):
        if not isinstance(value, Mapping):
            break
        if part not in value:
            return []
        value = value[part]
    return [value]
