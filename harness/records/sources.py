# SPDX-License-Identifier: GPL-2.0-only
"""Hashes over the project's own files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from harness.host.paths import DIGITS, PROJECT

# A line that begins as an import does: the module and what comes of it, or the modules.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))",
    re.MULTILINE,
)


def digest(paths: Iterable[Path]) -> str:
    """A hash over names (from the project's folder) and contents of files, in any order."""
    found, above = hashlib.sha256(), len(f"{PROJECT}/")
    for path in sorted(paths):
        content = path.read_bytes()
        found.update(f"{str(path)[above:]} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()[:DIGITS]


def files(*folders: str) -> Iterator[Path]:
    """All files of folders of the project, compiled Python left out.

    Each command asks for hundreds of files. scandir() knows what is a file; rglob() asks for each.
    """
    waiting = [str(PROJECT / folder) for folder in folders]
    while waiting:
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting += [entry.path] if entry.name != "__pycache__" else []
                elif entry.is_file():
                    yield Path(entry.path)


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


@cache
def folders_of_code() -> frozenset[str]:
    """The first words of the names of the project's modules."""
    return frozenset(name.removesuffix(".py") for name in os.listdir(PROJECT))


def file_of(module: str) -> Path | None:
    """The file of a module or package of the project; None for any other module."""
    if module.partition(".")[0] not in folders_of_code():
        return None
    base = f"{PROJECT}/{module.replace('.', '/')}"
    candidates = (f"{base}.py", f"{base}/__init__.py")
    return next((Path(path) for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113


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
