# SPDX-License-Identifier: GPL-2.0-only
"""Which packages some packages need: the same choice on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from index import Package, order

WANTED = re.compile(
    r"(?P<name>[a-z0-9.+-]+)(?::\w+)?\s*(?:\((?P<relation>[<>=]+)\s*(?P<version>[^)]+)\))?"
)
HOLDS = {
    "<<": lambda x: x < 0,
    "<=": lambda x: x <= 0,
    "=": lambda x: x == 0,
    ">=": lambda x: x >= 0,
    ">>": lambda x: x > 0,
}


class UnmetError(Exception):
    """A package that is not there, as a sentence."""


class Wanted(NamedTuple):
    """A name that a package asks for, and which of its versions."""

    name: str
    relation: str
    version: str

    def met_by(self, version: str | None) -> bool:
        """Does a version do? A name that is provided without one has None."""
        if not self.relation:
            return True
        return version is not None and HOLDS[self.relation](order(version, self.version))


def closure(names: Iterable[str], known: dict[str, Package]) -> list[Package]:
    """The packages and all that they depend on, by name.

    Of alternatives the first is taken that is chosen already or else that there is.

    Raises:
        UnmetError: one of them is not there.
    """
    providers = provided(known)
    todo = [[Wanted(name, "", "")] for name in names]
    chosen: dict[str, Package] = {}
    while todo:
        group = todo.pop(0)
        candidates = [x for wanted in group for x in able(wanted, known, providers)]
        if any(x.name in chosen for x in candidates):
            continue
        if not candidates:
            raise UnmetError(f"Debian has no package {group[0].name} that could be installed")
        package = candidates[0]
        chosen[package.name] = package
        todo += [alternatives(group) for group in package.depends.split(",") if group.strip()]
    return [chosen[name] for name in sorted(chosen)]


def able(
    wanted: Wanted, known: dict[str, Package], providers: dict[str, dict[str, str | None]]
) -> list[Package]:
    """Packages that meet a wish: the one of that name, else those that provide it."""
    package = known.get(wanted.name)
    own = [package] if package and wanted.met_by(package.version) else []
    others = providers.get(wanted.name, {})
    return own + [known[name] for name in sorted(others) if wanted.met_by(others[name])]


def provided(known: dict[str, Package]) -> dict[str, dict[str, str | None]]:
    """Who provides each name, and at which version."""
    found: dict[str, dict[str, str | None]] = {}
    for package in known.values():
        for text in filter(str.strip, package.provides.split(",")):
            name = alternatives(text)[0]
            found.setdefault(name.name, {})[package.name] = name.version or None
    return found


def alternatives(text: str) -> list[Wanted]:
    """What a field names between two commas."""
    found = [WANTED.match(one.strip()) for one in text.split("|")]
    return [Wanted(x["name"], x["relation"] or "", x["version"] or "") for x in found if x]
