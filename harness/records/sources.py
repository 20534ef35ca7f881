# SPDX-License-Identifier: GPL-2.0-only
"""Hashes over the project's own files."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.host.paths import DIGITS, PROJECT


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
    waiting = [module]
    while waiting:
        path = file_of(waiting.pop())
        if path is not None and path not in found:
            found.add(path)
            waiting += imports(path)
    return found


def file_of(module: str) -> Path | None:
    """The file of a module or package of the project; None for any other module."""
    base = PROJECT.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def imports(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports anywhere in it; of what is imported from them too,
    since that may be a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
