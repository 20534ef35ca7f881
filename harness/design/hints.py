# SPDX-License-Identifier: GPL-2.0-only
"""What a person most likely meant who wrote a wrong key or value into an experiment."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from harness.design.levels import value_at
from harness.design.listed import allowed
from harness.design.settings import TABLES, Machine, Tcp, is_key
from harness.design.units import WORDS, as_number, in_unit, unit_of, without_unit
from plan import plan, schema
from plan.loss import Loss
from plan.near import form, nearest
from plan.schema import MissingKeyError, UnknownKeyError, WrongTypeError, joined

MOST_EXACT = 1 << 53  # above it, a fraction is no longer the number that was written
HEADINGS = {name: f"[{name}]" for name in ("base", "factors")} | {
    name: f"[[{name}]]" for name in ("rule", "only")
}
SYSCTL = "tcp.sysctl."
FIRST_KINDS = {"topology": plan.FIRST_SHAPE, "queue": plan.FIRST_QUEUE}
RULE_PARTS = {
    "when": "write when = { FACTOR = LEVEL }",
    "set": "write set = { KEY = VALUE }, with a key such as queue.buffer_cells",
}
NONE: Mapping[str, Any] = {}
LEVEL = "one value: a number, true, false or a text"
LEVEL_WORDS = "a text or a whole number or a number or true or false"
SWITCHES = {"true": "true", "yes": "true", "on": "true"} | dict.fromkeys(
    ("false", "no", "off"), "false"
)


def sentence(
    error: Exception, top: Collection[str] = (), settings: Mapping[str, Any] = NONE
) -> str:
    """An error's text, and after it what was most likely meant.

    Args:
        top: the keys that stand above all tables.
        settings: those of the cell that has the mistake; nothing where no cell is known.
    """
    hint, text = "", str(error)
    if isinstance(error, UnknownKeyError):
        hint = of_unknown_key(error, top, settings)
        if hint:
            text = f"{joined(error.place, error.key)}: this key is unknown"
            hint += (
                f"{'' if hint.endswith('?') else '.'} The keys here are {', '.join(error.known)}"
            )
    elif isinstance(error, MissingKeyError) and (names := allowed(error.place)):
        text, hint = f"{error.place}: this key is missing", names
    elif isinstance(error, MissingKeyError):
        hint = of_missing_table(error)
    elif isinstance(error, WrongTypeError) and (names := allowed(error.place)):
        text, hint = f"{error.place}{schema.shown(error.value)}: {names}", of_levels(error)
    elif isinstance(error, WrongTypeError):
        text, hint = of_level(error) or text, of_wrong_type(error, top)
    return f"{text}; {hint}" if hint else text


def of_unknown_key(
    error: UnknownKeyError, top: Collection[str], settings: Mapping[str, Any]
) -> str:
    key, place = error.key, error.place
    at_top = place == "" and "base" in error.known
    if at_top and key in TABLES:
        return f"{key} belongs below [base]: a line [base] is missing above it"
    if at_top and are_levels(error.value):
        return f"if {key} is a factor, a line [factors] is missing above it"
    if not place and key.partition(".")[0] in TABLES:
        return f"with quotes it is one name with a dot in it: write {key}, without quotes"
    if key in top:
        return of_top(key)
    if twin := of_twin(error):
        return twin
    if kinds := kinds_with(place, key):
        return f"a {place} has this key only with kind = {' or '.join(kinds)}"
    home = of_home(key, place, settings)
    return f"{home} below [base]" if home and at_top else home


def of_top(key: str) -> str:
    """Where a key belongs that stands above all tables, or heads one."""
    if key in HEADINGS:
        return f"write {HEADINGS[key]}, which is a heading of its own"
    return f"write {key} at the top of the file, above the first heading"


def of_home(key: str, place: str, settings: Mapping[str, Any]) -> str:
    """The other table that has a key, best with the kind that it has in these settings."""
    homes = {table: kinds for table, kinds in homes_of(key).items() if table != place}
    for table in fitting(homes, settings):
        return f"it is a key of {table}: write {table}.{key}"
    for table, kinds in homes.items():
        return f"it is a key of {table}, but only with kind = {' or '.join(kinds)}"
    return ""


def homes_of(key: str) -> dict[str, list[str]]:
    """The tables that have a key, each with its kinds that have it; [""]: it has no kinds."""
    found: dict[str, list[str]] = {}
    for table, kind in tables_with().get(key, ()):
        found.setdefault(table, []).append(kind)
    return found


def fitting(homes: Mapping[str, list[str]], settings: Mapping[str, Any]) -> list[str]:
    """Those of some tables that have the key with the kind that they have in these settings."""
    return [
        table
        for table, kinds in homes.items()
        if not settings or not kinds[0] or kind_in(settings, table) in kinds
    ]


def key_meant(factor: str, settings: Mapping[str, Any] = NONE) -> str:
    """The key that a factor's name was most likely meant to be; "" where it is like none.

    A name without a table is only taken for the key of this very name.
    """
    if "." in factor:
        return nearest(factor, dotted_keys()) or ""
    key = next((one for one in tables_with() if form(one) == form(factor)), "")
    return "".join(f"{table}.{key}" for table in fitting(homes_of(key), settings)[:1])


@cache
def dotted_keys() -> list[str]:
    """All keys of the settings, each with its table."""
    tables = dict.fromkeys(table for table, kind, _ in owners() if kind)
    kinds = [f"{table}.kind" for table in tables]
    return kinds + [f"{table}.{key}" for key in tables_with() for table in homes_of(key)]


def kind_in(settings: Mapping[str, Any], table: str) -> object:
    """The kind that a table has in some settings; None: it has none there."""
    found = value_at(settings, f"{table}.kind")
    return found[0] if found else FIRST_KINDS.get(table)


def of_missing(error: MissingKeyError, settings: Mapping[str, Any]) -> str:
    """The same key without its unit, where its table has it with a number; "" where not.

    settings: those of the cell in which the key is missing.
    """
    end = unit_of(error.place)
    place = error.place.removesuffix(end)
    [number] = value_at(settings, place) or [None] if end else [None]
    if not isinstance(number, int | float) or isinstance(number, bool):
        return ""
    key = place.rpartition(".")[2]
    return f"; {key} = {number} has no unit; did you mean {key}{end}, in {WORDS[end]}?"


def of_missing_table(error: MissingKeyError) -> str:
    """How to write a table that is missing; "" for any other key."""
    key = error.place.rpartition(".")[2]
    if error.place in HEADINGS:
        return f"write {HEADINGS[error.place]}, and below it the names with their levels"
    return RULE_PARTS.get(key, "") if error.place.startswith("rule.") else ""


def kinds_with(place: str, key: str) -> list[str]:
    """The kinds of a table that have a key; none where the table has no kinds."""
    return [kind for table, kind in tables_with().get(key, ()) if table == place and kind]


def are_levels(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str | int | float) for one in value)


def of_twin(error: UnknownKeyError) -> str:
    """A known key that differs in its unit only."""
    for known in error.known:
        end = unit_of(known)
        begin, wrong = f"{known.removesuffix(end)}_", error.key
        if end and wrong.startswith(begin) and (unit := wrong.removeprefix(begin)):
            said = f"did you mean {known}, in {WORDS[end]}?"
            value = error.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                meant = in_unit(Fraction(str(value)), unit, end)
                if meant is not None:
                    return f"{said} Write {known} = {as_number(meant)}"
            return said
    return ""


def of_level(error: WrongTypeError) -> str:
    """What is said of a list or table in a list of levels; "" for any other value."""
    place, _, number = error.place.rpartition(".")
    if error.words != LEVEL_WORDS:
        return ""
    if not number.isdecimal():
        return f"{error.place}{schema.shown(error.value)}: must be {LEVEL}"
    of_value = "" if isinstance(error.value, Mapping) else f" = {schema.as_written(error.value)}"
    of_a_key = isinstance(error.value, list) and "." in place.removeprefix("factors.")
    no_factor = "; a key whose value is a list cannot be a factor" if of_a_key else ""
    return f"{place}: level {int(number) + 1}{of_value} must be {LEVEL}{no_factor}"


def of_wrong_type(error: WrongTypeError, top: Collection[str]) -> str:
    place, value = error.place, error.value
    if place in ("rule", "only") and isinstance(value, Mapping):
        return f"write [[{place}]], with two brackets"
    if place in ("base", "factors") and isinstance(value, list):
        return f"write [{place}], with one bracket on each side"
    table, _, factor = place.partition(".")
    if table == "factors" and error.words == "a list":
        return of_factor(factor, value, top)
    if error.words == "a list" and type(value) in (str, int, float):
        return f"write [{schema.as_written(value)}]"
    if error.words == "a table":
        return "a table is { KEY = VALUE, KEY = VALUE }"
    if isinstance(value, list):
        return of_levels(error)
    if isinstance(value, Mapping) and place.startswith(SYSCTL):
        name = place.removeprefix(SYSCTL)
        return f"the dot behind {name} makes a table of it; write a sysctl without net.ipv4."
    return of_table(error) or of_value(place, value, error.words)


def of_levels(error: WrongTypeError) -> str:
    """How to vary a setting; "" where the value is not what a factor has, or the key has lists."""
    return "" if "a list" in error.words else to_vary(error.place, error.value)


def to_vary(place: str, value: object) -> str:
    """The same for a setting whose value, if it is a list, stands for several."""
    levels = schema.as_written(value)
    if not value or not is_key(place) or not are_levels(value):
        return ""
    written = levels if len(levels) <= schema.MOST_SHOWN else "[...]"
    return f"to vary it, write {place} = {written} below [factors]"


def of_table(error: WrongTypeError) -> str:
    """How to write the table that a number stands in the place of, where it has one kind."""
    if not error.words.startswith("a table") or type(error.value) not in (int, float):
        return ""
    for table, kind, owner in owners():
        if table == error.place and not kind:
            first, last = schema.written(owner)[0].name, table.rpartition(".")[2]
            return f"write {last} = {{ {first} = {schema.as_written(error.value)} }}"
    return ""


def of_factor(factor: str, value: object, top: Collection[str]) -> str:
    """What stands below [factors] and is no list."""
    if factor in top:
        return f"{factor} is no factor: {of_top(factor)}"
    if factor.partition(".")[0] in TABLES:
        return "if this is no factor but a setting, a line [base] is missing above it"
    if isinstance(value, Mapping):
        key = key_meant(next(iter([f"{factor}.{name}" for name in value]), factor))
        such = f"; did you mean {key}?" if key else ", such as queue.buffer_cells"
        return f"only a factor that is a key has a dot in its name{such}"
    return f"the levels of a factor are a list, such as [{schema.as_written(value)}]"


def of_value(place: str, value: object, words: str) -> str:
    number = "number" in words
    if isinstance(value, str) and number:
        plain = value.strip().replace(",", "")
        if re.fullmatch(r"-?[\d_]+(\.\d+)?", plain):
            return f"write {plain}, without quotes"
        return without_unit(place.rpartition(".")[2], value.strip())
    if isinstance(value, str) and words == "true or false" and value.casefold() in SWITCHES:
        return f"write {SWITCHES[value.casefold()]}, without quotes"
    if isinstance(value, float) and number and value == int(value) and abs(value) < MOST_EXACT:
        return f"write {int(value):_}"
    if isinstance(value, int | float) and words == "a text":
        return f'write "{schema.as_written(value)}", in quotes'
    return ""


@cache
def tables_with() -> dict[str, list[tuple[str, str]]]:
    """Each key of the settings: the tables that have it, with the kind where they have several."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, kind, owner in owners():
        for field in schema.written(owner):
            found.setdefault(field.name, []).append((table, kind))
    return found


def owners() -> Iterator[tuple[str, str, type]]:
    """Each table of the settings, its kind, and the class that reads it."""
    for name, kind in plan.SHAPES.kinds.items():
        yield "topology", name, kind.Settings
    yield "tcp", "", Tcp
    yield "lab", "", Machine
    for name, kind in plan.QUEUES.kinds.items():
        yield "queue", name, kind.Settings
    for name, kind in plan.WORKLOADS.kinds.items():
        yield "workload", name, kind.Parameters
    for kind in plan.CAPTURES.kinds.values():
        yield "record", "", kind.Settings
    # Last, for few experiments have them: a key of several tables is told of the first.
    yield "topology.loss", "", Loss
    for name, kind in plan.PATHS.kinds.items():
        yield "topology.path", name, kind.Settings
