# SPDX-License-Identifier: GPL-2.0-only
"""TCP flavors: the files of tcp-configs/, read and checked before anything runs.

A flavor file is TOML; what is unknown is an error. Every sysctl of the classic set is said.

    name         string, the file's name without .toml                      required
    title        string, one line                                            required
    explanation  string, for a student                                       required
    source       list of strings, at least one: RFC, paper                   required
    congestion   string, the congestion control                              required
    module       string, the kernel module that brings it; built in if none  optional
    [sysctl]     integer or string, keys relative to net.ipv4                required
    [parameters] net.ipv4.cellbed.*, PARAMETERS of plan/flavor.py; those that differ from
                 their defaults, and only with module = "cellbed_tcp"
    [route.server], [route.client]  attributes of the end's route, ROUTE of plan/flavor.py

What depends on the network (tcp_rmem, tcp_wmem, the route's window) is the trial's, not
the flavor's.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from plan import plan
from plan.errors import UsageError
from plan.flavor import PARAMETERS, ROUTE, SYSCTLS, Attribute, Parameter, Value
from plan.near import choices
from plan.schema import WrongTypeError

FOLDER = Path(__file__).resolve().parents[2] / "tcp-configs"
MODULE = "cellbed_tcp"
ROOT = "net.ipv4."  # which the names of sysctls do not have before them

SYSCTL_TYPES = {int: "a whole number", str: "a text"}

# Left to the trial: they follow from the network, and two writers would disagree.
TRIAL_SYSCTLS = ("tcp_rmem", "tcp_wmem", "tcp_mem", "tcp_congestion_control")


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """A TCP flavor.

    Attributes:
        sysctl: values relative to net.ipv4.
        parameters: all of the module's, as the integers the kernel takes; empty for stock
            controls.
        route: for "server" and "client", attributes of the end's route: initcwnd, initrwnd,
            ssthresh (segments or "bdp"), quickack (0 or 1), rto_min_ms.
    """

    name: str
    title: str
    explanation: str
    source: tuple[str, ...]
    congestion: str
    module: str | None
    sysctl: Mapping[str, Value]
    parameters: Mapping[str, int]
    route: Mapping[str, Mapping[str, Value]]

    def for_hosts(self) -> plan.Flavor:
        """What the hosts of a lab take of it."""
        return plan.Flavor(**{f.name: getattr(self, f.name) for f in fields(plan.Flavor)})

    def as_dict(self) -> dict[str, Any]:
        """The same in plain JSON types."""
        return dict(plan.to_json(self.for_hosts()))

    def with_parameters(self, changes: Mapping[str, object], origin: str = "parameters") -> Flavor:
        """The flavor with some of the module's parameters changed, in the file's words.

        Raises:
            UsageError: an unknown parameter or value, or a flavor without the module.
        """
        if changes and not self.parameters:
            raise UsageError(f"{origin}: flavor {self.name} has no module parameters")
        read = _section(origin, "", changes, PARAMETERS)
        return replace(self, parameters=_in_plan({**self.parameters, **read}))


def with_sysctls(flavor: Flavor, changes: Mapping[str, Value], origin: str) -> Flavor:
    """The flavor with some of its own sysctls, or of those of SYSCTLS, at other values.

    Raises:
        UsageError: a sysctl that neither has.
        WrongTypeError: a value of another type than in the flavor's file.
        ValueError: a value of SYSCTLS outside its bounds.
    """
    for name, value in changes.items():
        if name in SYSCTLS and name not in flavor.sysctl:
            SYSCTLS[name].kind.read(value, f"{origin}.{name}")
            continue
        if name not in flavor.sysctl:
            raise UsageError(
                f"{origin}.{name}: flavor {flavor.name} does not set it;"
                f" {choices(name.removeprefix(ROOT), [*flavor.sysctl, *SYSCTLS])}"
            )
        if isinstance(value, bool) or not isinstance(value, type(flavor.sysctl[name])):
            raise WrongTypeError(f"{origin}.{name}", value, SYSCTL_TYPES[type(flavor.sysctl[name])])
    return replace(flavor, sysctl={**flavor.sysctl, **changes})


def with_initial_window(flavor: Flavor, segments: int, serving: Sequence[str]) -> Flavor:
    """The flavor whose serving ends begin with so many segments, whatever its file says."""
    return _at(flavor, serving, {"initcwnd": segments})


def with_server_quickack(flavor: Flavor, quickack: bool, serving: Sequence[str]) -> Flavor:
    """The flavor whose serving ends acknowledge each segment at once, or may wait for an answer."""
    return _at(flavor, serving, {"quickack": 1 if quickack else None})


def _at(flavor: Flavor, ends: Sequence[str], changes: Mapping[str, Value | None]) -> Flavor:
    """The flavor with some attributes of these ends' routes changed; None: left out."""
    route = dict(flavor.route)
    for end in ends:
        attributes = {**route.get(end, {}), **changes}
        route[end] = {name: value for name, value in attributes.items() if value is not None}
    return replace(flavor, route=route)


def names() -> tuple[str, ...]:
    """The flavors of tcp-configs/, in alphabetical order."""
    files = os.listdir(FOLDER)  # a plan asks for each of its cells
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load_all() -> tuple[Flavor, ...]:
    """Every flavor of tcp-configs/; UsageError as load()."""
    return tuple(load(name) for name in names())


def load(flavor: str | Path) -> Flavor:
    """Read a flavor by its name, or a flavor file by its path (a Path, or ending in .toml).

    Raises:
        UsageError: no such flavor, or a file that is wrong: one line with file, key and
            what is allowed.
    """
    path = Path(flavor)
    if isinstance(flavor, str) and path.suffix != ".toml":
        if flavor not in names():
            raise UsageError(f"{flavor}: no such TCP flavor; there are {', '.join(names())}")
        path = FOLDER / f"{flavor}.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    try:
        return read(text, path)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None


@cache
def read(text: str, path: Path) -> Flavor:
    """A flavor of a file's text; a plan asks for the same one for each of its cells."""
    return parse(tomllib.loads(text), path)


def parse(document: Mapping[str, Any], path: Path) -> Flavor:
    """Check a flavor file's content.

    Raises:
        UsageError: as load().
    """
    known = ("name", "title", "explanation", "source", "congestion", "module")
    sections = ("sysctl", "parameters", "route")
    for key in document:
        if key not in known + sections:
            raise UsageError(
                f"{path}: the key {key} is unknown; allowed are {', '.join(known + sections)}"
            )
    name = _text(path, document, "name")
    if name != path.stem:
        raise UsageError(f'{path}: name = "{name}", but the file is called {path.stem}')
    module = _text(path, document, "module") if "module" in document else None
    return Flavor(
        name=name,
        title=_text(path, document, "title"),
        explanation=_text(path, document, "explanation").strip(),
        source=_sources(path, document),
        congestion=_text(path, document, "congestion"),
        module=module,
        sysctl=_sysctls(path, _table(path, document, "sysctl")),
        parameters=_parameters(path, document, module),
        route=_routes(path, document),
    )


def _text(path: Path, document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{path}: {key} must be a string that is not empty")
    return value


def _table(path: Path, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{path}: {key} must be a table")
    return value


def _sources(path: Path, document: Mapping[str, Any]) -> tuple[str, ...]:
    value = document.get("source")
    if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value):
        raise UsageError(f"{path}: source must be a list of one or more strings")
    return tuple(value)


def _sysctls(path: Path, section: Mapping[str, object]) -> dict[str, Value]:
    read: dict[str, Value] = {}
    for key, value in section.items():
        if not key.replace("_", "").isalnum():
            raise UsageError(f"{path}: sysctl.{key} must be a name relative to net.ipv4")
        if key in TRIAL_SYSCTLS:
            raise UsageError(f"{path}: sysctl.{key}: the trial sets this, a flavor cannot")
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise UsageError(f"{path}: sysctl.{key} = {value!r} must be an integer or a string")
        read[key] = value
    return read


def _parameters(path: Path, document: Mapping[str, Any], module: str | None) -> dict[str, int]:
    if module != MODULE:
        if "parameters" in document:
            raise UsageError(f'{path}: parameters can be set only with module = "{MODULE}"')
        return {}
    said = _section(str(path), "parameters.", _table(path, document, "parameters"), PARAMETERS)
    return _in_plan({name: said.get(name, p.kernels_default) for name, p in PARAMETERS.items()})


def _in_plan(parameters: Mapping[str, int]) -> dict[str, int]:
    """Those that a plan says."""
    return {
        name: value
        for name, value in parameters.items()
        if not PARAMETERS[name].later or value != PARAMETERS[name].kernels_default
    }


def _routes(path: Path, document: Mapping[str, Any]) -> dict[str, dict[str, Value]]:
    section = _table(path, document, "route")
    for end in section:
        if end not in ("server", "client"):
            raise UsageError(
                f"{path}: the key route.{end} is unknown; allowed are server and client"
            )
    return {
        end: _section(str(path), f"route.{end}.", _table(path, section, end), ROUTE)
        for end in ("server", "client")
    }


def _section(
    origin: str,
    prefix: str,
    section: Mapping[str, object],
    table: Mapping[str, Parameter] | Mapping[str, Attribute],
) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in section.items():
        if key not in table:
            raise UsageError(f"{origin}: the key {prefix}{key} is unknown; {choices(key, table)}")
        try:
            read[key] = table[key].kind.read(value, f"{prefix}{key}")
        except ValueError as error:
            raise UsageError(f"{origin}: {error}") from None
    return read
