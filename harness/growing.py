# SPDX-License-Identifier: GPL-2.0-only
"""A file to which another process adds lines, read as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


class Growing:
    """Gives each line once; the last one when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0  # bytes

    def lines(self) -> Iterator[bytes]:
        """What has come since.

        Raises:
            OSError: the file cannot be read.
        """
        with self._path.open("rb") as stream:
            stream.seek(self._read)
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                yield line
