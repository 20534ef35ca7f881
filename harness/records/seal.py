# SPDX-License-Identifier: GPL-2.0-only
"""Checksums of a record's files, by which a changed one is noticed (`sha256sum -c` takes them)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from analysis.files import regular

SUMS = "SHA256SUMS"
# Written after the sums: by whoever judges the record (harness/judge/judgement.py).
LATER = {SUMS, "judgement.json"}


def seal(folder: Path) -> None:
    """Write down the checksums of all files of a record."""
    names = sorted(path.name for path in folder.iterdir())
    lines = [f"{checksum(folder / name)}  {name}\n" for name in names]
    (folder / SUMS).write_text("".join(lines))


def checksum(path: Path) -> str:
    """SHA-256 of a file's content, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def changed_files(folder: Path) -> list[str]:
    """What of a record is gone, is not as it was recorded, or was not recorded at all.

    Names that begin with a dot are files that somebody is writing.
    """
    try:
        sums: dict[str, set[str]] = {}
        for line in regular(folder / SUMS).read_text().splitlines():
            found, name = line.split("  ", 1)
            sums.setdefault(name, set()).add(found)
        changed = {name for name, found in sums.items() if not unchanged(folder, name, found)}
        there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    except (OSError, ValueError):
        return [SUMS]
    return sorted(changed | (there - sums.keys() - LATER))


def unchanged(folder: Path, name: str, found: set[str]) -> bool:
    """Does a file of a record still have this checksum? By one name only it is read once."""
    path = folder / name
    return path.name == name and path.is_file() and {checksum(path)} == found
