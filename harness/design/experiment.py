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
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from harness.design.toml_file import read_table
from plan.errors import UsageError

MOST_LEVELS = 1000
MOST_CELLS = 100_000

KERNEL = "kernel"  # the factor that --kernel adds

NAME_PATTERN = r"^[a-z0-9][a-z0-9-]*$"
STUDY_PATTERN = r"^[a-z0-9][a-z0-9_]*$"
# What a message says of a text that does not match.
PATTERNS = {
    NAME_PATTERN: "must be small letters, digits and dashes, and begin with a letter or digit",
    STUDY_PATTERN: "must be small letters, digits and _, and begin with a letter or digit",
}

Level = str | int | float
Port = Literal["down", "up"]


class Part(BaseModel):
    """Base of all parts: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Topology(Part):
    """The dumbbell (plan/dumbbell.py); rates of cells, 53 bytes each."""

    pairs: int = Field(ge=1, le=1024)
    rate_bit_per_s: int = Field(ge=1_000_000, le=622_080_000)
    delay_us: int = Field(ge=0, le=10_000_000)
    access_rate_bit_per_s: int = Field(default=149_760_000, ge=1_000_000, le=622_080_000)
    access_delay_us: int = Field(default=5, ge=1, le=1_000_000)
    mss_bytes: int = Field(ge=88, le=9180)
    delay: str = "constant"
    loss: dict[str, Any] | Literal["none"] = "none"


def listed(levels: Any) -> Any:
    """One level as a list of one."""
    return levels if isinstance(levels, list) else [levels]


class Tcp(Part):
    """The senders and the receiver's window."""

    flavor: Annotated[list[str], BeforeValidator(listed)]
    window_bytes: int = Field(ge=1024, le=1_073_725_440)
    ssthresh_bytes: int = Field(ge=1, le=1_000_000_000)
    initial_window_segments: int | None = Field(default=None, ge=1, le=65_535)
    server_quickack: bool | None = None
    parameters: dict[str, Any] | Literal["none"] = {}
    sysctl: dict[str, int | str] | Literal["none"] = {}


class Machine(Part):
    """The lab; what else it is, the command line says (--lab, --clock)."""

    kernel: str | None = None


class Settings(Part):
    """All that a trial is, but for its seed.

    The kinds of queue and workload check their own, and so do the captures in `record`.
    """

    topology: Topology
    queue: dict[str, Any]
    tcp: Tcp
    workload: dict[str, Any]
    record: dict[str, Any] = {}
    lab: Machine = Machine()


class Rule(Part):
    """What a combination of levels sets; of each factor named, any of the levels given."""

    when: dict[str, Annotated[list[Level], BeforeValidator(listed)]]
    set: dict[str, Any]

    def matches(self, cell: Mapping[str, Level]) -> bool:
        """Is it for this combination of levels?"""
        return all(any(same(cell[f], v) for v in levels) for f, levels in self.when.items())


class Experiment(Part):
    """A whole experiment file."""

    name: str = Field(pattern=NAME_PATTERN, max_length=64)
    title: str
    study: str | None = Field(None, pattern=STUDY_PATTERN, max_length=64)
    seeds: int = Field(1, ge=1, le=1000)
    first_seed: int = Field(1, ge=1, le=1_000_000_000)
    factors: dict[str, list[Level]]
    only: list[dict[str, list[Level]]] = []
    base: dict[str, Any] = {}
    rule: list[Rule] = []

    @model_validator(mode="after")
    def _rules_name_factors(self) -> Experiment:
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
        for number, part in enumerate(self.only, 1):
            for factor, levels in part.items():
                if not levels:
                    raise ValueError(f"only {number}: {factor}: needs levels")
                for level in levels:
                    self._check_level(f"only {number}: {factor}", factor, level)
        return self

    def _check_level(self, place: str, factor: str, level: Level) -> None:
        if factor not in self.factors:
            raise ValueError(f"{place}: no such factor; there are " + ", ".join(self.factors))
        if not any(same(level, known) for known in self.factors[factor]):
            raise ValueError(
                f"{place} = {level}: no such level; there are "
                + ", ".join(map(str, self.factors[factor]))
            )

    def cells(self) -> Iterator[dict[str, Level]]:
        """Every combination of levels that is wanted, the last factor changing fastest."""
        for levels in itertools.product(*self.factors.values()):
            cell = dict(zip(self.factors, levels, strict=True))
            if not self.only or any(within(cell, part) for part in self.only):
                yield cell

    def settings(self, cell: Mapping[str, Level]) -> dict[str, Any]:
        """Base settings with the matching rules applied, not yet validated."""
        merged: dict[str, Any] = {}
        overlay(merged, self.base)
        for rule in self.rule:
            if rule.matches(cell):
                overlay(merged, rule.set)
        return merged


def with_captures(experiment: Experiment, ports: Sequence[Port]) -> Experiment:
    """The experiment with captures at these ports in every trial, whatever its file says."""
    if not ports:
        return experiment
    rule = Rule(when={}, set={"record": {"pcap": sorted(set(ports))}})
    return experiment.model_copy(update={"rule": [*experiment.rule, rule]})


def with_kernels(experiment: Experiment, origin: Path, names: Sequence[str]) -> Experiment:
    """The experiment with one factor more, the kernels of these names; UsageError."""
    if not names:
        return experiment
    if KERNEL in experiment.factors:
        raise UsageError(f"--kernel: {origin} has a factor {KERNEL}: --only {KERNEL}=... instead")
    table = experiment.model_dump()
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


def within(cell: Mapping[str, Level], part: Mapping[str, list[Level]]) -> bool:
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


def load(path: Path) -> Experiment:
    """Read an experiment file.

    Raises:
        UsageError: one line with the file, the key and what is allowed.
    """
    return of_table(path, read_table(path))


def of_table(path: Path, table: dict[str, Any]) -> Experiment:
    """The experiment that a table is, which may extend a file; UsageError as load()."""
    if "extends" in table:
        table = extended(path, table)
    return validated(path, table)


def validated(path: Path, table: Mapping[str, Any]) -> Experiment:
    """The experiment that a table is; UsageError as load()."""
    try:
        return Experiment.model_validate(table)
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error, Experiment)}") from error


def extended(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """A table that extends another file's, laid over it; UsageError as load()."""
    name = table.pop("extends")
    if not isinstance(name, str):
        raise UsageError(f"{path}: extends = {name}: the name of a file")
    parent = path.parent / name
    under = read_table(parent)
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


def first_fault(error: ValidationError, model: type[BaseModel]) -> str:
    """The first fault of a validation against a model in one line: key, value, what is allowed."""
    faults = error.errors()
    # A misspelt key is both unknown and missing; the first says more.
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = ", ".join(keys_at(model, fault["loc"][:-1]))
        return f"{key}: unknown key" + (f"; there are {known}" if known else "")
    if fault["type"] == "missing":
        return f"{key}: required"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "string_pattern_mismatch":
        message = PATTERNS[fault["ctx"]["pattern"]]
    if message == fault["msg"] or fault["type"] == "string_pattern_mismatch":
        value = shorten(fault["input"])
        key = f"{key} = {value}" if value else key
    message = message.replace("Input should be", "must be").replace("String should", "should")
    return f"{key}: {message}" if key else message


def keys_at(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The keys of the table at a place below a model; none where no model describes it."""
    for part in place:
        field = model.model_fields.get(str(part))
        below = field.annotation if field else None
        if not (isinstance(below, type) and issubclass(below, BaseModel)):
            return []
        model = below
    return list(model.model_fields)


def shorten(value: object) -> str:
    """A short value as a message shows it; nothing for a table, a list or a long text."""
    text = repr(value) if isinstance(value, str | bool | int | float) else ""
    return text if len(text) <= 40 else ""
