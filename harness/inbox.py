# SPDX-License-Identifier: GPL-2.0-only
"""Files for a lab that runs. What runs in it may have put a link where they are to be."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def give(path: Path, text: str) -> None:
    """Write a file under another name and rename it; no link in its folder is followed.

    Raises:
        OSError: its folder is gone, or is a link.
    """
    partial = f".{path.name}.partial"
    folder = os.open(path.parent, FOLDER)
    try:
        with suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=folder)
        with os.fdopen(os.open(partial, NEW, 0o644, dir_fd=folder), "w") as stream:
            stream.write(text)
        os.rename(partial, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
