# SPDX-License-Identifier: GPL-2.0-only
"""The SPECweb96 file set as 98-0876R1 modified it (section 5.2, Table 1).

There are five classes of nine files; file k of a class has k units. The paper has a fifth class
(1-9 MB) and other shares than SPEC. Together with the mean of 120.3 kB, this determines the units:
KB = 1024 bytes, 0.1 KB = 102.4 bytes, MB = 1000 KB. Sizes are rounded to whole bytes.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from workload.errors import WorkloadError

FILES = range(1, 10)
FILE_MEAN = 5.0


@dataclass(frozen=True, kw_only=True)
class FileClass:
    """One row of Table 1: its share of all requests and the size of its file 1."""

    share: float
    unit_bytes: float


CLASSES = (
    FileClass(share=0.20, unit_bytes=102.4),
    FileClass(share=0.28, unit_bytes=1024.0),
    FileClass(share=0.40, unit_bytes=10240.0),
    FileClass(share=0.112, unit_bytes=102400.0),
    FileClass(share=0.008, unit_bytes=1024000.0),
)


def size_bytes(file_class: int, file: int) -> int:
    """Return the size of `file` (1..9) of `file_class` (0..4)."""
    if file_class not in range(len(CLASSES)) or file not in FILES:
        raise WorkloadError(
            f"class {file_class} has no file {file}; the classes are 0 to 4, and the files 1 to 9"
        )
    return round(CLASSES[file_class].unit_bytes * file)


def path(file_class: int, file: int) -> str:
    """Return the file's path below the document root, as a request names it."""
    return f"/class{file_class}_{file}"


def path_bytes(path: str) -> int:
    """Return the size of the file with this path."""
    file_class, _, file = path.removeprefix("/class").partition("_")
    return size_bytes(int(file_class), int(file))


def class_at(uniform: float) -> int:
    """Return the class at `uniform` in [0, 1) of the cumulative shares."""
    total = 0.0
    for number, file_class in enumerate(CLASSES):
        total += file_class.share
        if uniform < total:
            return number
    return len(CLASSES) - 1  # the sum of the shares may be below 1 by a rounding error


def write(docroot: Path) -> int:
    """Make the 45 files below `docroot` (made if missing) and return their total size in bytes.

    The files consist of holes: they read as zeros and take no memory on a tmpfs. One directory
    serves all servers.
    """
    docroot.mkdir(parents=True, exist_ok=True)
    total = 0
    for file_class in range(len(CLASSES)):
        for file in FILES:
            size = size_bytes(file_class, file)
            _write_hole(docroot / path(file_class, file).lstrip("/"), size)
            total += size
    return total


def _write_hole(target: Path, size: int) -> None:
    # Truncate the file first: its content must not depend on an old file.
    with target.open("wb") as file:
        os.truncate(file.fileno(), size)
