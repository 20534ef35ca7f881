# SPDX-License-Identifier: GPL-2.0-only
"""Temporary folders that say whose they are, so that those of killed processes are found."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.host import owner

# From its first moment a folder says who its owner is: nothing in it has to be read for that.
NAME = re.compile(r"cellbed-[a-z]+\.(?P<owner>\d+-\d+)\.\w+")

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
RIGHTS = 0o700


@contextmanager
def folder(what: str) -> Iterator[Path]:
    """A folder of this process for something; `./cellbed clean` removes it when that was killed."""
    made = Path(tempfile.mkdtemp(prefix=f"cellbed-{what}.{owner.this_process()}."))
    try:
        yield made
    finally:
        remove(made)


def remove(folder: Path) -> None:
    """Remove a folder, whatever a lab has left in it; nobody writes there any more.

    Its folders may be as deep as they like, and closed to their owner: each is brought to the top,
    opened, and emptied there. No link is followed, not even to change a right.

    Raises:
        OSError: something cannot be removed.
    """
    folder.chmod(RIGHTS)
    top = os.open(folder, FOLDER)
    try:
        while names := emptied(top, top):
            for name in names:
                below = os.open(name, FOLDER, dir_fd=top)
                try:
                    emptied(below, top)
                finally:
                    os.close(below)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def emptied(folder: int, top: int) -> list[str]:
    """Remove a folder's files, and bring its folders to the top; returns their names there."""
    found = []
    with os.scandir(folder) as entries:
        inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in inside:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        os.chmod(name, RIGHTS, dir_fd=folder)  # else it cannot be moved, for its ".."
        found.append(secrets.token_hex(16))
        os.rename(name, found[-1], src_dir_fd=folder, dst_dir_fd=top)
    return found
