# SPDX-License-Identifier: GPL-2.0-only
"""Is a handed-in folder one that can be read at all? It is looked at before anything is opened.

A huge file, a FIFO or a link to somewhere else keeps a check from its end, or reads what is not
the student's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.course.handout import ANSWERS, CAMPAIGN

MOST_ENTRIES = 1000
MOST_MIB = 256
# Of all files together: the checksum of each is computed, also where it is a hole.
MOST_TOGETHER_MIB = 1024
# Of all tables and documents together: read, they take 25 times as much memory. The checksums'
# file has no suffix.
READ, MOST_READ_MIB = {".csv", ".json", ".toml", ""}, 64


def not_a_folder(folder: Path) -> str | None:
    """Why a path is not a folder, in a sentence; None where it is one."""
    if folder.is_symlink():
        return "this is a link; name the folder itself"
    if folder.is_file():
        return f"this is a file; name its folder, {folder.parent}"
    if not folder.is_dir():
        return "this folder does not exist; name the folder that ./cellbed course start made"
    return None


def fault(folder: Path) -> str | None:
    """What keeps it from being read, in a sentence; None where nothing does."""
    inside, together, to_read = folder.resolve(), 0, 0
    for number, path in enumerate(entries(folder)):
        if number == MOST_ENTRIES:
            return f"{folder / CAMPAIGN}: more than {MOST_ENTRIES} files: hand in one campaign"
        try:
            if not path.resolve(strict=True).is_relative_to(inside):
                return f"{path}: leads out of the folder: hand in the file itself"
            said = fault_of(path)
            together += (size := size_of(path))
            to_read += size if path.suffix in READ else 0
        except (OSError, RuntimeError):  # a link to nothing, or a circle of links
            return f"{path}: leads out of the folder: hand in the file itself"
        if said:
            return said
        if to_read > MOST_READ_MIB << 20:
            return f"{path}: with it more than {MOST_READ_MIB} MiB of tables, and none has so much"
        if together > MOST_TOGETHER_MIB << 20:
            return f"{path}: with it more than {MOST_TOGETHER_MIB} MiB: hand in no captures"
    return None


def entries(folder: Path) -> Iterator[Path]:
    """What a check may open, and the folders on the way to it; no link is followed."""
    for top in (folder / ANSWERS, folder / CAMPAIGN):
        if os.path.lexists(top):
            yield top
    for parent, folders, files in os.walk(folder / CAMPAIGN):
        yield from (Path(parent, name) for name in (*folders, *files))


def size_of(path: Path) -> int:
    """Bytes of a file; a folder has none."""
    status = path.stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def fault_of(path: Path) -> str | None:
    """What is wrong with one entry."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return f"{path}: is no file"
    if status.st_size > MOST_MIB << 20:
        return f"{path}: larger than {MOST_MIB} MiB, and no file of a record is"
    return None
