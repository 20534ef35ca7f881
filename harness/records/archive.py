# SPDX-License-Identifier: GPL-2.0-only
"""A record as a ZIP archive, on its way from the machine that made it to the campaign's."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

from harness.records.whole import whole_folder


class DamagedError(Exception):
    """An archive that is not whole."""


# The tables shrink to a fifth already at the fastest level.
LEVEL = 1


def pack(record: Path) -> bytes:
    """A record's folder, which has no folders in it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as stream:
        for path in sorted(record.iterdir()):
            stream.write(path, path.name)
    return archive.getvalue()


def unpack(archive: bytes, trials: Path, name: str) -> None:
    """Put a record into the folder of the campaign's records, under its name only when whole.

    Raises:
        DamagedError: the archive did not come whole.
    """
    try:
        with whole_folder(trials, name) as folder, zipfile.ZipFile(io.BytesIO(archive)) as stream:
            stream.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise DamagedError(f"the record was damaged on its way from the worker: {error}") from error
