# SPDX-License-Identifier: GPL-2.0-only
"""Finds kinds: each kind is a file or a folder in a package. Standard library only.

A file NAME.py or a package NAME in the package defines the kind NAME. In the kind's name, "-"
replaces "_". The file defines the parts that the registry requires, such as a class Settings. No
other file has to name the kind.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from plan.errors import CellbedError
from plan.near import choices

NAME = re.compile(r"[a-z][a-z0-9_]*")


class UnknownKindError(CellbedError):
    """No file defines a kind of this name; the text lists the known kinds."""

    exit_code = 2


class Registry:
    """The kinds that the files and folders of a package define.

    Args:
        package: the package's name.
        parts: the names that each kind's module must define.
        among_others: whether the package may contain modules without any of the parts. Such modules
            define no kind.
        interface: the module of the package that describes the parts; "": it is elsewhere.
    """

    def __init__(
        self, package: str, *parts: str, among_others: bool = False, interface: str = ""
    ) -> None:
        self.package = package
        self.parts = parts
        self.among_others = among_others
        self.interface = interface

        self._named: dict[object, Any] = {}
        self._name_of_class: dict[type, str | None] = {}

    @cached_property
    def kinds(self) -> Mapping[str, Any]:
        """Name of a kind -> its module, sorted by name.

        Raises:
            CellbedError: a file's name is not allowed, or a file lacks a part.
        """
        found = {}
        for module in self._modules:
            if not NAME.fullmatch(module):
                raise CellbedError(
                    f"{self._place(module)}: the name of this file may have only small letters,"
                    " digits and _"
                )
            kind = self._kind(module)
            if kind is not None:
                found[module.replace("_", "-")] = kind
        return found

    @cached_property
    def _modules(self) -> list[str]:
        folder = importlib.import_module(self.package)
        names = (module.name for module in pkgutil.iter_modules(folder.__path__))
        return [name for name in names if name != self.interface]

    def _place(self, module: str) -> Path:
        folder = Path(importlib.import_module(self.package).__path__[0], module)
        return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")

    def _kind(self, module: str) -> Any:
        """Import a module of the package; return None if it defines no kind."""
        kind = importlib.import_module(f"{self.package}.{module}")
        if self.among_others and not any(hasattr(kind, part) for part in self.parts):
            return None
        for part in self.parts:
            if not hasattr(kind, part):
                raise CellbedError(f"{self._place(module)} must define {part}, but does not")
        return kind

    def __getitem__(self, name: object) -> Any:
        """Return the module of a kind. It imports no other kind: a lab needs few kinds.

        Raises:
            UnknownKindError: there is no such kind.
        """
        known = vars(self).get("kinds", self._named)
        if isinstance(name, str) and name in known:
            return known[name]
        for module in self._modules:
            if module.replace("_", "-") == name and (kind := self._kind(module)) is not None:
                self._named[name] = kind
                return kind
        raise UnknownKindError(f"{name}: {choices(name, self.kinds)}")

    def with_word(self, word: str) -> Iterator[Any]:
        """Yield the modules of the kinds whose files have a word, such as a name that few define.

        It imports no other kind.
        """
        for module in self._modules:
            has_word = word in self._place(module).read_text(encoding="utf-8")
            if has_word and (kind := self._kind(module)) is not None:
                yield kind

    def name_of(self, value: object) -> str | None:
        """Return the kind whose module has the class of `value` as a part; None if there is none.

        The class must be defined in the kind's own file or folder.
        """
        of = type(value)
        if of not in self._name_of_class:
            self._name_of_class[of] = self._find(of)
        return self._name_of_class[of]

    def _find(self, of: type) -> str | None:
        within, _, rest = of.__module__.partition(f"{self.package}.")
        module = rest.partition(".")[0]
        if within or module not in self._modules:
            return None
        kind = self._kind(module)
        parts = () if kind is None else (getattr(kind, part) for part in self.parts)
        return module.replace("_", "-") if of in parts else None
