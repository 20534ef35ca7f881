# SPDX-License-Identifier: GPL-2.0-only
"""Kinds of a thing, a file or a folder each: whatever lies there is there. Standard library only.

A file NAME.py of a package, or a package NAME in it, brings the kind NAME ("_" is written "-"), by
the parts that the registry asks of each, such as a class Settings. Nothing else has to name it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from plan.errors import CellbedError
from plan.near import choices

NAME = re.compile(r"[a-z][a-z0-9_]*")


class UnknownKindError(CellbedError):
    """A kind that nothing brings; says which there are."""

    exit_code = 2


class Registry:
    """The kinds that the files and folders of a package bring.

    Args:
        package: its name.
        parts: what each of its modules must have.
        among_others: may modules lie there that have none of them, and bring no kind?
        interface: the one that says what the parts are, where it lies there too.
    """

    def __init__(
        self, package: str, *parts: str, among_others: bool = False, interface: str = ""
    ) -> None:
        self.package = package
        self.parts = parts
        self.among_others = among_others
        self.interface = interface

    @cached_property
    def kinds(self) -> Mapping[str, Any]:
        """Name of a kind -> its module, by name.

        Raises:
            CellbedError: a file with a name that does not do, or without one of the parts.
        """
        folder = importlib.import_module(self.package)
        found = {}
        for module in pkgutil.iter_modules(folder.__path__):
            if module.name == self.interface:
                continue
            place = Path(
                folder.__path__[0], module.name + ("/__init__.py" if module.ispkg else ".py")
            )
            if not NAME.fullmatch(module.name):
                raise CellbedError(
                    f"{place}: the name of this file may have only small letters, digits and _"
                )
            kind = importlib.import_module(f"{self.package}.{module.name}")
            if self.among_others and not any(hasattr(kind, part) for part in self.parts):
                continue
            for part in self.parts:
                if not hasattr(kind, part):
                    raise CellbedError(f"{place} must define {part}, but does not")
            found[module.name.replace("_", "-")] = kind
        return found

    def __getitem__(self, name: object) -> Any:
        """The module of a kind.

        Raises:
            UnknownKindError: there is no such kind.
        """
        if not isinstance(name, str) or name not in self.kinds:
            raise UnknownKindError(f"{name}: {choices(name, self.kinds)}")
        return self.kinds[name]

    def name_of(self, value: object) -> str | None:
        """The kind that has a value's class as one of its parts, if any."""
        return self._names.get(type(value))

    @cached_property
    def _names(self) -> Mapping[type, str]:
        return {getattr(k, part): name for name, k in self.kinds.items() for part in self.parts}
