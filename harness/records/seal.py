# SPDX-License-Identifier: GPL-2.0-only
"""Checksums of a record's files, by which a changed one is noticed (`sha256sum -c` takes them)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from analysis.files import regular

SUMS = "SHA256SUMS"


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
    """Files of a record that are gone or are not as they were recorded."""
    try:
        sums = [line.split("  ", 1) for line in regular(folder / SUMS).read_text().splitlines()]
        return [name for found, name in sums if not unchanged(folder / name, found)]
    except (OSError, ValueError):
        return [SUMS]


def unchanged(path: Path, found: str) -> bool:
    """Does a file still have this checksum?"""
    return path.is_file() and checksum(path) == found
