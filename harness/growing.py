# SPDX-License-Identifier: GPL-2.0-only
"""A file to which another process adds lines, read as it grows.

What runs in a lab may have put a link in the file's place, or a FIFO, or a line without an end.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
LONGEST_LINE = 16 << 20  # bytes


def opened(path: Path) -> BinaryIO:
    """A file to be read; no link is followed, and nobody who would write to a FIFO awaited.

    Raises:
        OSError: it is none.
    """
    stream = os.fdopen(os.open(path, FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "is not a file", str(path))
    return stream


class Growing:
    """Gives each line once; the last one when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0  # bytes

    def lines(self) -> Iterator[bytes]:
        """What has come since.

        Raises:
            OSError: the file cannot be read.
            ValueError: a line is longer than LONGEST_LINE.
        """
        with opened(self._path) as stream:
            stream.seek(self._read)
            while line := stream.readline(LONGEST_LINE):
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST_LINE:
                        raise ValueError(f"{self._path}: a line of more than {LONGEST_LINE} bytes")
                    return
                self._read += len(line)
                yield line
