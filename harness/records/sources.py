# SPDX-License-Identifier: GPL-2.0-only
"""Hashes over the project's own files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.host.paths import DIGITS, PROJECT

# A line that begins as an import does: the module and what comes of it, or the modules.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))",
    re.MULTILINE,
)


def digest(paths: Iterable[Path]) -> str:
    """A hash over names (from the project's folder) and contents of files, in any order."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(f"{path.relative_to(PROJECT)} {path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:DIGITS]


def files(*folders: str) -> Iterator[Path]:
    """All files of folders of the project, compiled Python left out."""
    for folder in folders:
        paths = (PROJECT / folder).rglob("*")
        yield from (p for p in paths if p.is_file() and "__pycache__" not in p.parts)


def imported_by(module: str) -> set[Path]:
    """The file of a module, and of all of the project that it imports, however far."""
    found: set[Path] = set()
    asked, waiting = {module}, [module]
    while waiting:
        path = file_of(waiting.pop())
        if path is not None and path not in found:
            found.add(path)
            more = imports(path) - asked
            asked |= more
            waiting += more
    return found


def file_of(module: str) -> Path | None:
    """The file of a module or package of the project; None for any other module."""
    base = PROJECT.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def imports(path: Path) -> set[str]:
    """Names of the modules that a file imports anywhere in it; of what is imported from them too,
    since that may be a module.

    Read from its lines: to parse a file takes ten times as long. So a line of a text that looks
    like an import counts, too.
    """
    found: set[str] = set()
    code = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
    for module, names, modules in IMPORT.findall(code):
        if module:
            found |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
        else:
            found |= set(re.findall(r"\w[\w.]*", modules))
    return found
