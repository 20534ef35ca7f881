# SPDX-License-Identifier: GPL-2.0-only
"""Writes the archives that the Linux kernel unpacks as its first root: cpio, format "newc".

Source: Linux, Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import io
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

MAGIC = "070701"
ALIGN = 4  # bytes
END = "TRAILER!!!"


class Archive:
    """An archive behind what a stream has so far; the same files give the same bytes everywhere.

    Owner, group and times are 0. A folder must come before what is in it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._count = 0
        self._align()

    def folder(self, name: str) -> None:
        """An empty folder, with the rights 755."""
        self._add(name, stat.S_IFDIR | 0o755, 0, io.BytesIO())

    def file(self, name: str, path: Path) -> None:
        """A file of the host, with the rights 755 if its owner may execute it, and else 644."""
        facts = path.stat()
        rights = 0o755 if facts.st_mode & stat.S_IXUSR else 0o644
        with path.open("rb") as content:
            self._add(name, stat.S_IFREG | rights, facts.st_size, content)

    def end(self) -> None:
        """Nothing comes after this."""
        self._count = 0
        self._add(END, 0, 0, io.BytesIO())

    def _add(self, name: str, mode: int, size_bytes: int, content: BinaryIO) -> None:
        self._count += 1
        text = name.encode() + b"\0"
        links = 1
        fields = [self._count, mode, 0, 0, links, 0, size_bytes, 0, 0, 0, 0, len(text), 0]
        self._stream.write(MAGIC.encode() + b"".join(b"%08X" % field for field in fields) + text)
        self._align()
        shutil.copyfileobj(content, self._stream, 1 << 20)
        self._align()

    def _align(self) -> None:
        self._stream.write(bytes(-self._stream.tell() % ALIGN))
