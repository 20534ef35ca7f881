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

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from harness.design.toml_file import read_table
from plan import schema
from plan.errors import UsageError
from plan.plan import Level, level_name
from plan.schema import Matches, OneOrMore, Within

MOST_LEVELS = 1000
MOST_CELLS = 100_000

KERNEL = "kernel"  # the factor that --kernel adds

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
class Topology:
    """The dumbbell (plan/dumbbell.py); rates of cells, 53 bytes each."""

    pairs: Annotated[int, Within(1, 1024), "The number of clients. Each client has its own server."]
    rate_bit_per_s: Annotated[
        int,
        Within(1_000_000, 622_080_000),
        "The rate of the middle link, which all pairs share. It counts all bits of the cells, 53"
        " bytes each.",
    ]
    delay_us: Annotated[int, Within(0, 10_000_000), "The one-way delay of the middle link."]
    access_rate_bit_per_s: Annotated[
        int,
        Within(1_000_000, 622_080_000),
        "The rate of the link between each host and the middle, counted as the rate of the"
        " middle link. The default is 155.52 Mbit/s without the overhead of SONET.",
    ] = 149_760_000
    access_delay_us: Annotated[
        int, Within(1, 1_000_000), "The one-way delay of the link between each host and the middle."
    ] = 5
    mss_bytes: Annotated[
        int,
        Within(88, 9180),
        "The largest TCP payload of a packet (MSS). The largest packet (MTU) has 40 bytes more.",
    ]
    delay: Annotated[
        str,
        "A kind of `topology/delays/`. With `connection`, each TCP connection gets a round trip"
        " of its own in addition to the path's. The workload `packmime` needs `connection`, and"
        " no other workload allows it.",
    ] = "constant"
    loss: Annotated[
        Mapping[str, Any] | Literal["none"],
        "The losses of the path itself, after the queue ([below](#losses-of-the-path)).",
    ] = "none"


def listed(levels: Any) -> Any:
    """One level as a list of one."""
    return levels if isinstance(levels, list) else [levels]


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """The senders and the receiver's window."""

    flavor: Annotated[
        Sequence[str],
        OneOrMore(),
        "The kind of TCP sender: a file of `tcp-configs/`, or a list of such files"
        " ([flavors.md](flavors.md)). With a list, the pairs take the flavors in turn: with"
        ' `["cubic", "bbr"]`, pairs 1, 3, ... use cubic, and pairs 2, 4, ... use bbr.',
    ]
    window_bytes: Annotated[
        int, Within(1024, 1_073_725_440), "The largest window that a receiver advertises."
    ]
    ssthresh_bytes: Annotated[int, Within(1, 1_000_000_000), "The initial slow start threshold."]
    initial_window_segments: Annotated[
        int | None,
        Within(1, 65_535),
        "The initial congestion window of the servers. With `packmime` the key sets it at both"
        " ends, because both ends send answers. The default is the flavor's.",
    ] = None
    server_quickack: Annotated[
        bool | None,
        "true: a server acknowledges each segment at once. false: an acknowledgement may wait"
        " and go with the answer. With `packmime` both ends are servers. The default is the"
        " flavor's.",
    ] = None
    parameters: Annotated[
        Mapping[str, Any] | Literal["none"],
        "New values for parameters of the flavor's kernel module ([flavors.md](flavors.md)).",
    ] = field(default_factory=dict)
    sysctl: Annotated[
        Mapping[str, int | str] | Literal["none"], "New values for sysctls of the flavor."
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The lab; what else it is, the command line says (--lab, --clock)."""

    kernel: Annotated[
        str | None,
        "The kernel of the `uml` lab, by [a name](kernels.md). The default is the kernel that"
        " set-up built.",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a trial is, but for its seed.

    The kinds of queue and workload check their own, and so do the captures in `record`.
    """

    topology: Topology
    queue: Mapping[str, Any]
    tcp: Tcp
    workload: Mapping[str, Any]
    record: Mapping[str, Any] = field(default_factory=dict)
    lab: Machine = Machine()


TABLES = frozenset(field.name for field in fields(Settings))


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
    title: Annotated[str, "One line, the title of the report."]
    study: Annotated[
        StudyName | None,
        "A folder of `studies/`. The table and the report show the figures that this study's"
        " paper published beside the measured figures.",
    ] = None
    seeds: Annotated[int, Within(1, 1000), "The number of seeds of each cell of the design."] = 1
    first_seed: Annotated[
        int, Within(1, 1_000_000_000), "The first seed. Three seeds from 1 are 1, 2 and 3."
    ] = 1
    factors: Mapping[str, Sequence[Level]]
    only: Sequence[Mapping[str, Sequence[Level]]] = ()
    base: Mapping[str, Any] = field(default_factory=dict)
    rule: Sequence[Rule] = ()

    def __post_init__(self) -> None:
        for factor, levels in self.factors.items():
            check_name("factors", factor)
            if not levels or len({canonical(level) for level in levels}) < len(levels):
                raise ValueError(f"factors.{factor}: needs levels, each once")
            if len(levels) > MOST_LEVELS:
                raise ValueError(f"factors.{factor}: {len(levels)} levels, at most {MOST_LEVELS}")
            for level in levels:
                check_name(f"factors.{factor}", level)
        cells = math.prod(map(len, self.factors.values()))
        if cells > MOST_CELLS:
            raise ValueError(f"factors: {cells} combinations of levels, at most {MOST_CELLS}")
        for number, rule in enumerate(self.rule, 1):
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
            raise ValueError(f"{place}: no such factor; there are " + ", ".join(self.factors))
        if not any(same(level, known) for known in self.factors[factor]):
            raise ValueError(
                f"{place} = {level}: no such level; there are "
                + ", ".join(map(level_name, self.factors[factor]))
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


def is_key(factor: str) -> bool:
    """Is a factor named by the key of the settings that its levels set?"""
    table, dot, _ = factor.partition(".")
    return bool(dot) and table in TABLES


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


def with_captures(experiment: Design, ports: Sequence[Port]) -> Design:
    """The experiment with captures at these ports in every trial, whatever its file says."""
    if not ports:
        return experiment
    rule = Rule(when={}, set={"record": {"pcap": sorted(set(ports))}})
    return with_rule(experiment, rule)


def with_rule(experiment: Design, rule: Rule) -> Design:
    """The experiment with one rule more, after all others."""
    return replace(experiment, rule=(*experiment.rule, rule))


def with_kernels(experiment: Design, origin: Path, names: Sequence[str]) -> Design:
    """The experiment with one factor more, the kernels of these names; UsageError."""
    if not names:
        return experiment
    if KERNEL in experiment.factors:
        raise UsageError(f"--kernel: {origin} has a factor {KERNEL}: --only {KERNEL}=... instead")
    table = schema.to_json(experiment)
    levels = [kernel_level(name) for name in names]
    table["factors"] = {KERNEL: levels, **experiment.factors}
    table["rule"] += [
        {"when": {KERNEL: level}, "set": {"lab": {"kernel": name}}}
        for level, name in zip(levels, names, strict=True)
    ]
    return validated(Path("--kernel"), table)


def kernel_level(name: str) -> str:
    """The level that a kernel's name makes: 6.12,hz=250 is called "6.12 hz 250"."""
    return name.replace(",hz=", " hz ")


def within(cell: Mapping[str, Level], part: Mapping[str, Sequence[Level]]) -> bool:
    """Has a cell one of the levels listed for each factor that a part names?"""
    return all(any(same(cell[f], level) for level in levels) for f, levels in part.items())


def check_name(place: str, name: Level) -> None:
    """ValueError for a factor or level that would not do as part of a file's name or an option."""
    text = str(name)
    if isinstance(name, str) and not (
        len(text) <= 64 and text[:1].isalnum() and text.isprintable() and not set(text) & set(",=")
    ):
        raise ValueError(
            f"{place}: {text!r}: 1 to 64 printable characters, the first a letter or digit, "
            "no comma, no ="
        )


def canonical(level: object) -> object:
    """What two levels have in common that are the same: 1, 1.0 and "1"; "EPD" and "epd"."""
    for kind in (int, float):
        try:
            number = kind(str(level))
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return str(level).casefold()


def same(one: object, other: object) -> bool:
    """Are two levels the same, whatever their case and whether 1 or 1.0?"""
    return canonical(one) == canonical(other)


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
        UsageError: one line with the file, the key and what is allowed.
    """
    return of_table(path, read_table(path))


def of_table(path: Path, table: dict[str, Any]) -> Design:
    """The experiment that a table is, which may extend a file; UsageError as load()."""
    table = with_dotted_factors(path, table)
    if "extends" in table:
        table = extended(path, table)
    return validated(path, table)


def with_dotted_factors(path: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    """The same with `queue.buffer_cells` as a factor's name where TOML made tables of it.

    Raises:
        UsageError: a factor stands there twice, with quotes and without.
    """

    def dotted_in(value: Any, part: str, place: str) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get(part), Mapping):
            return value
        return {**value, part: dotted(path, place, value[part])}

    found = dict(dotted_in(table, "factors", "factors"))
    if isinstance(found.get("rule"), list):
        found["rule"] = [dotted_in(rule, "when", "when") for rule in found["rule"]]
    if isinstance(found.get("only"), list):
        parts = found["only"]
        found["only"] = [dotted(path, "only", p) if isinstance(p, Mapping) else p for p in parts]
    return found


def dotted(path: Path, place: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Factors of a file with the tables among them as dotted names; UsageError as above."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        for key, levels in leaves(name, value) if name in TABLES else [(name, value)]:
            if key in found:
                raise UsageError(f"{path}: {place}.{key}: stands there twice")
            found[key] = levels
    return found


def leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each value in nested tables by its dotted key."""
    if not isinstance(value, Mapping) or not value:
        yield key, value
        return
    for name, below in value.items():
        yield from leaves(f"{key}.{name}", below)


def validated(path: Path, table: Mapping[str, Any]) -> Design:
    """The experiment that a table is; UsageError as load()."""
    try:
        return schema.from_json(Design, table, "", defaults=True)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def extended(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """A table that extends another file's, laid over it; UsageError as load()."""
    name = table.pop("extends")
    if not isinstance(name, str):
        raise UsageError(f"{path}: extends = {name}: the name of a file")
    parent = path.parent / name
    under = with_dotted_factors(parent, read_table(parent))
    if "extends" in under:
        raise UsageError(f"{path}: extends = {name}: a file that does not extend one itself")
    validated(parent, under)  # its own mistakes are told under its own name
    return extend(under, table)


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
