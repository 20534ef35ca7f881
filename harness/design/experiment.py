# SPDX-License-Identifier: GPL-2.0-only
"""Experiment files: TOML, validated; docs/experiments.md documents every key.

An experiment names factors with their levels, base settings, and rules that say what a
level (or a combination of levels) means:

    [factors]
    network = ["WAN", "GEO"]
    buffer = [0.5, 1]

    [[rule]]
    when = { network = "WAN", buffer = 0.5 }
    set = { queue.buffer_cells = 531 }

A factor may also be named by the key that it sets, and then needs no rule:

    [factors]
    queue.buffer_cells = [250, 500, 1000]

Every combination of levels is a cell, or, where a design is not a full factorial, every
combination that one of the [[only]] tables lists (a factor left out of it has all levels):

    [[only]]
    network = ["GEO"]
    buffer = [1]

The rules that match it are applied over the base
settings in the order of the file, and the result must be complete and in range.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from harness.design.hints import sentence
from harness.design.levels import (
    MOST_LETTERS,
    check_different,
    check_name,
    check_no_column,
    listed,
    nested,
    same,
    value_at,
)
from harness.design.settings import TABLES, is_key
from harness.design.sources import Sources
from harness.design.toml_file import TomlFile, read_file
from harness.flavors import own
from plan import schema
from plan.errors import UsageError
from plan.near import choices
from plan.plan import Level, level_name
from plan.schema import Matches, OneOrMore, Within, as_written

MOST_LEVELS = 1000
MOST_CELLS = 100_000

NOWHERE = Sources()  # of an experiment that no file says
KERNEL = "kernel"  # the factor that --kernel adds
FLAVOR = "flavor"  # the factor that --module adds a level to
AT_TOP = ("name", "title")  # texts that stand above all tables

Name = Annotated[
    str,
    Matches(
        r"[a-z0-9][a-z0-9-]*",
        "small letters, digits and dashes, and begin with a letter or digit",
        64,
    ),
]
StudyName = Annotated[
    str,
    Matches(
        r"[a-z0-9][a-z0-9_]*", "small letters, digits and _, and begin with a letter or digit", 64
    ),
]
Port = Literal["down", "up"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a combination of levels sets; of each factor named, any of the levels given."""

    when: Mapping[str, Annotated[Sequence[Level], OneOrMore()]]
    set: Mapping[str, Any]

    def matches(self, cell: Mapping[str, Level]) -> bool:
        """Is it for this combination of levels?"""
        return all(any(same(cell[f], v) for v in levels) for f, levels in self.when.items())


@dataclass(frozen=True, kw_only=True)
class Design:
    """A whole experiment file."""

    name: Annotated[
        Name,
        "Small letters, digits and dashes. The name is also the name of the folder with the"
        " results.",
    ]
    title: Annotated[
        str, Matches(r".*\S.*", "one line with a letter"), "One line, the title of the report."
    ]
    study: Annotated[
        StudyName | None,
        "A folder of `studies/`. The table of results and the report then show the measured"
        " figures, and beside them the figures from this study's paper.",
    ] = None
    seeds: Annotated[int, Within(1, 1000), "The number of seeds of each combination of levels."] = 1
    first_seed: Annotated[
        int, Within(1, 1_000_000_000), "The first seed. Three seeds from 1 are 1, 2 and 3."
    ] = 1
    factors: Mapping[str, Sequence[Level]]
    only: Sequence[Mapping[str, Sequence[Level]]] = ()
    base: Mapping[str, Any] = field(default_factory=dict)
    rule: Sequence[Rule] = ()
    sources: Sources = field(default=NOWHERE, compare=False, repr=False, metadata={"aside": True})

    def __post_init__(self) -> None:
        for name, value in self.base.items():
            if name in TABLES and not isinstance(value, Mapping):
                raise schema.WrongTypeError(f"base.{name}", value, "a table")
        for factor, levels in self.factors.items():
            check_name(f"factors.{factor}", factor)
            check_no_column(factor)
            check_different(f"factors.{factor}", levels)
            if len(levels) > MOST_LEVELS:
                raise ValueError(f"factors.{factor}: {len(levels)} levels, at most {MOST_LEVELS}")
            for level in levels:
                check_name(f"factors.{factor}", level)
        cells = math.prod(map(len, self.factors.values()))
        if cells > MOST_CELLS:
            raise ValueError(f"factors: {cells} combinations of levels, at most {MOST_CELLS}")
        for number, rule in enumerate(self.rule, 1):
            for name, value in rule.set.items():
                if name in TABLES and not isinstance(value, Mapping):
                    raise schema.WrongTypeError(f"rule.{number - 1}.set.{name}", value, "a table")
            for factor, levels in rule.when.items():
                if not levels:
                    raise ValueError(f"rule {number}: when.{factor}: needs levels")
                for level in levels:
                    self._check_level(f"rule {number}: when.{factor}", factor, level)
            for factor in filter(is_key, self.factors):
                self._check_overridden(number, rule, factor)
        for number, part in enumerate(self.only, 1):
            for factor, levels in part.items():
                if not levels:
                    raise ValueError(f"only {number}: {factor}: needs levels")
                for level in levels:
                    self._check_level(f"only {number}: {factor}", factor, level)

    @staticmethod
    def _check_overridden(number: int, rule: Rule, factor: str) -> None:
        """ValueError where a rule would make a level's name a lie."""
        levels = rule.when.get(factor, ())
        if found := value_at(rule.set, factor):
            [value] = found
            if not levels or any(level != value for level in levels):
                raise ValueError(
                    f"rule {number}: set.{factor}: the factor {factor} sets this key already;"
                    " remove it from the rule, or give the factor a name that is no key"
                )

    def _check_level(self, place: str, factor: str, level: Level) -> None:
        if factor not in self.factors:
            raise ValueError(f"{place}: no such factor; {choices(factor, self.factors)}")
        if not any(same(level, known) for known in self.factors[factor]):
            known = map(level_name, self.factors[factor])
            raise ValueError(
                f"{place} = {level_name(level)}: no such level; {choices(level, known)}"
            )

    def cells(self) -> Iterator[dict[str, Level]]:
        """Every combination of levels that is wanted, the last factor changing fastest."""
        for levels in itertools.product(*self.factors.values()):
            cell = dict(zip(self.factors, levels, strict=True))
            if not self.only or any(within(cell, part) for part in self.only):
                yield cell

    def settings(self, cell: Mapping[str, Level]) -> dict[str, Any]:
        """Base settings with the levels and the matching rules applied, not yet validated."""
        merged: dict[str, Any] = {}
        overlay(merged, self.base)
        for factor in filter(is_key, cell):
            overlay(merged, nested(factor, cell[factor]))
        for rule in self.rule:
            if rule.matches(cell):
                overlay(merged, rule.set)
        return merged


TOP = (*(one.name for one in schema.written(Design)), "extends")
"""The keys of a file that stand above all tables, and the tables."""


def with_first_seed(experiment: Design, first_seed: int | None) -> Design:
    """The experiment with this first seed, whatever its file says; None: as it is."""
    return experiment if first_seed is None else replace(experiment, first_seed=first_seed)


def with_captures(experiment: Design, ports: Sequence[Port]) -> Design:
    """The experiment with captures at these ports in every trial, whatever its file says."""
    if not ports:
        return experiment
    rule = Rule(when={}, set={"record": {"pcap": sorted(set(ports))}})
    return with_rule(experiment, rule)


def with_trace(experiment: Design, events: Sequence[str]) -> Design:
    """The experiment with these events of the kernel in every trial, whatever its file says."""
    if not events:
        return experiment
    return with_rule(experiment, Rule(when={}, set={"record": {"trace": list(events)}}))


def with_rule(experiment: Design, rule: Rule) -> Design:
    """The experiment with one rule more, after all others."""
    return replace(experiment, rule=(*experiment.rule, rule))


def with_kernels(experiment: Design, origin: Path, names: Sequence[str]) -> Design:
    """The experiment with one factor more, the kernels of these names; UsageError."""
    if not names:
        return experiment
    if "" in names:
        raise UsageError("--kernel: a name is empty; write NAME[,NAME]")
    if KERNEL in experiment.factors:
        raise UsageError(f"--kernel: {origin} has a factor {KERNEL}: --only {KERNEL}=... instead")
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"--kernel: {twice[0]} is named twice; name each kernel once")
    table = schema.to_json(experiment)
    levels = [kernel_level(name) for name in names]
    table["factors"] = {KERNEL: levels, **experiment.factors}
    table["rule"] += [
        {"when": {KERNEL: level}, "set": {"lab": {"kernel": name}}}
        for level, name in zip(levels, names, strict=True)
    ]
    return validated(Path("--kernel"), table, experiment.sources)


def with_module(experiment: Design, origin: Path, path: str) -> Design:
    """The experiment with one level more of its factor `flavor`: a module of a person's own.

    Raises:
        UsageError: it has no such factor, or such a level.
    """
    if not path:
        return experiment
    if FLAVOR not in experiment.factors:
        raise UsageError(
            f'--module: {origin} has no factor {FLAVOR}; write tcp.flavor = "module:{path}" in it'
        )
    name = own.PREFIX + path
    level = own.load(name).congestion
    table = schema.to_json(experiment)
    levels = [*experiment.factors[FLAVOR], level]
    if level in experiment.factors[FLAVOR]:
        raise UsageError(f"--module {path}: {origin} has a level {level} of {FLAVOR} already")
    table["factors"] = {**experiment.factors, FLAVOR: levels}
    # The parameters are those of the historical flavors' module.
    tcp = {"flavor": [name], "parameters": "none"}
    table["rule"] += [{"when": {FLAVOR: level}, "set": {"tcp": tcp}}]
    return validated(Path("--module"), table, experiment.sources)


def beside(path: str, kernels: Sequence[str]) -> list[str]:
    """The names that with_module() makes of those of kernels; none without a module."""
    made = (own.on_kernel(name, [own.PREFIX + path] if path else []) for name in kernels)
    return [name for name in made if path and name is not None]


def kernel_level(name: str) -> str:
    """The level that a kernel's name makes: 6.12,hz=250 is called "6.12 hz 250"."""
    named = re.sub(r",([a-z]+)=(?:[^,]*/)?([^,/]+)/?", r" \1 \2", name).replace("=", " ")
    if len(named) <= MOST_LETTERS:
        return named
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]  # the ends may be what differs
    return f"{named[: MOST_LETTERS - len(digest) - 1]} {digest}"


def within(cell: Mapping[str, Level], part: Mapping[str, Sequence[Level]]) -> bool:
    """Has a cell one of the levels listed for each factor that a part names?"""
    return all(any(same(cell[f], level) for level in levels) for f, levels in part.items())


def overlay(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Lay nested tables over others, in place; what is no table replaces."""
    for key, value in over.items():
        if isinstance(value, Mapping):
            below = under.get(key)
            under[key] = dict(below) if isinstance(below, Mapping) else {}
            overlay(under[key], value)
        else:
            under[key] = value


def load(path: Path) -> Design:
    """Read an experiment file.

    Raises:
        UsageError: one line with the file, its line, the key and what is allowed.
    """
    return of_file(path, read_file(path))


def of_file(path: Path, file: TomlFile) -> Design:
    """The experiment that a file is, which may extend another; UsageError as load().

    path: of the file; where it is not really there, its folder is that of what it extends.
    """
    file = with_dotted_factors(file)
    sources, table = Sources((file,)), file.table
    if "extends" in table:
        sources, table = extended(path, file)
    return validated(path, table, sources)


def validated(path: Path, table: Mapping[str, Any], sources: Sources = NOWHERE) -> Design:
    """The experiment that a table is; UsageError as load()."""
    try:
        return replace(schema.from_json(Design, table, "", defaults=True), sources=sources)
    except ValueError as error:
        if isinstance(error, schema.MissingKeyError) and error.place in AT_TOP:
            raise sources.refusal_at_top(path, sentence(error)) from error
        if isinstance(error, schema.WrongTypeError) and error.words == "a list":
            error = first_setting(error, table, sources)
        raise sources.refusal(path, sentence(error, TOP)) from error


def first_setting(
    error: schema.WrongTypeError, table: Mapping[str, Any], sources: Sources
) -> schema.WrongTypeError:
    """The error of the first line below [factors] that is a setting, where there is none before.

    The table has all factors of a dotted table where its first one stands.
    """
    if not error.place.startswith("factors."):
        return error
    wrong = {
        f"factors.{name}": value
        for name, value in table["factors"].items()
        if not isinstance(value, list) and name.partition(".")[0] in TABLES
    }
    place = min(wrong, key=sources.line_of, default=error.place)
    return schema.WrongTypeError(place, wrong.get(place, error.value), error.words)


def with_dotted_factors(file: TomlFile) -> TomlFile:
    """The same with `queue.buffer_cells` as a factor's name where TOML made tables of it.

    Raises:
        UsageError: a factor stands there twice, with quotes and without.
    """

    def dotted_in(value: Any, part: str, place: str) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get(part), Mapping):
            return value
        return {**value, part: dotted(file, place, value[part])}

    table = dict(dotted_in(file.table, "factors", "factors"))
    for name in ("rule", "only"):
        if isinstance(table.get(name), list):
            of_each = enumerate(table[name])
            table[name] = (
                [dotted_in(rule, "when", f"rule.{n}.when") for n, rule in of_each]
                if name == "rule"
                else [dotted(file, f"only.{n}", part) for n, part in of_each]
            )
    return replace(file, table=table)


def dotted(file: TomlFile, place: str, table: Any) -> Any:
    """A table of factors with the tables in it as dotted names; UsageError as above."""
    if not isinstance(table, Mapping):
        return table
    found: dict[str, Any] = {}
    for name, value in table.items():
        for key, levels in leaves(name, value) if name in TABLES else [(name, value)]:
            if key in found:
                line = file.positions.get(f"{place}.{key}")
                raise file.mistake(line, f"{place}.{key}: stands there twice; remove one of them")
            found[key] = levels
    return found


def leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each value in nested tables by its dotted key."""
    if not isinstance(value, Mapping) or not value:
        yield key, value
        return
    for name, below in value.items():
        yield from leaves(f"{key}.{name}", below)


def extended(path: Path, file: TomlFile) -> tuple[Sources, dict[str, Any]]:
    """A file that extends another, laid over it, and both; UsageError as load()."""
    table = dict(file.table)
    name = table.pop("extends")
    line = file.positions.get("extends")
    if not isinstance(name, str):
        raise file.mistake(line, f"extends = {as_written(name)}: must be the name of a file")
    parent = path.parent / name
    if not os.path.exists(parent):  # also False for a name that is too long
        raise file.mistake(line, f"extends = {name}: there is no such file")
    if not parent.is_file():
        written = as_written(name)
        raise file.mistake(line, f"extends = {written}: must be a file, and this is none")
    if path.exists() and parent.samefile(path):
        raise file.mistake(line, f"extends = {name}: a file cannot extend itself")
    under = with_dotted_factors(read_file(parent))
    if "extends" in under.table:
        raise file.mistake(
            line, f"extends = {name}: {name} extends a file itself, and only one file may"
        )
    validated(parent, under.table, Sources((under,)))  # its own mistakes bear its own name
    merged, own = extend(under.table, table), table.get("rule", [])
    kept = len(merged["rule"]) - len(own) if isinstance(own, list) else 0
    return Sources((file, under), kept), merged


def extend(parent: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    """A child experiment over its valid parent: its keys and levels win, its rules come last.

    A rule of the parent for a level that the child has not is left out. The child's own
    mistakes stay in the result.
    """
    merged = dict(parent)
    overlay(merged, {key: value for key, value in child.items() if key != "rule"})
    factors, added = merged["factors"], child.get("rule", [])
    if not isinstance(factors, dict) or not isinstance(added, list):
        return {**merged, "rule": added}
    levels = {f: known if isinstance(known, list) else [] for f, known in factors.items()}
    kept = [with_known(rule, levels) for rule in parent.get("rule", [])]
    return {**merged, "rule": [rule for rule in kept if all(rule["when"].values())] + added}


def with_known(rule: Mapping[str, Any], known: Mapping[str, Sequence[Level]]) -> dict[str, Any]:
    """A rule of a valid file for those of its levels that are known."""
    when = {
        factor: [level for level in listed(levels) if any(same(level, k) for k in known[factor])]
        for factor, levels in rule["when"].items()
    }
    return {**rule, "when": when}
