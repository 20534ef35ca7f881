# SPDX-License-Identifier: GPL-2.0-only
"""What root writes for somebody who called sudo is his: else his next run could not go on.

Each file and folder is handed over when it is made, by its own descriptor or by that of the
folder which holds it, so that no link put in its way turns it into another's. Nothing that
was there before is touched.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plan.errors import UsageError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def caller() -> tuple[int, int] | None:
    """User and group of who called sudo, None without it."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return None
    words = (os.environ["SUDO_UID"], os.environ.get("SUDO_GID", ""))
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError(f"SUDO_UID={words[0]} SUDO_GID={words[1]}: must be numbers, as sudo sets")
    return int(words[0]), int(words[1])


def give(descriptor: int) -> None:
    """Hand what is open to the caller of sudo."""
    owner = caller()
    if owner is not None:
        os.fchown(descriptor, *owner)


def give_folder(folder: Path) -> None:
    """Hand over a folder that this process has made and filled, with the files in it.

    Nobody else could write into it until now, so all that is in it is this process's.
    """
    owner = caller()
    if owner is None:
        return
    with opened(folder, os.O_NOFOLLOW) as here:
        if os.fstat(here).st_uid != os.getuid():
            raise OSError(errno.EPERM, "is somebody else's by now", str(folder))
        for name in os.listdir(here):
            os.chown(name, *owner, dir_fd=here, follow_symlinks=False)
        os.fchown(here, *owner)


def give_tree(folder: Path) -> None:
    """The same with all folders in it, the innermost first: until then nobody else writes there."""
    owner = caller()
    if owner is None:
        return
    for _, folders, files, here in os.fwalk(folder, topdown=False, follow_symlinks=False):
        if os.fstat(here).st_uid != os.getuid():
            raise OSError(errno.EPERM, "is somebody else's by now", str(folder))
        for name in files + [name for name in folders if is_link(name, here)]:
            os.chown(name, *owner, dir_fd=here, follow_symlinks=False)
        os.fchown(here, *owner)


def is_link(name: str, folder: int) -> bool:
    """Is an entry of a folder a link, which no walk enters?"""
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; the new ones are the caller's."""
    missing = []
    present = folder.absolute()
    while not present.exists():
        missing.append(present.name)
        present = present.parent
    with opened(present) as descriptor:
        above = os.dup(descriptor)
    try:
        for name in reversed(missing):
            below = make_below(above, name)
            os.close(above)
            above = below
    except OSError as error:  # a name in a folder's descriptor says nothing to a person
        raise OSError(error.errno, error.strerror, str(folder)) from error
    finally:
        os.close(above)


def make_below(above: int, name: str) -> int:
    """Make one folder in another one; returns its descriptor."""
    try:
        os.mkdir(name, dir_fd=above)
    except FileExistsError:  # ".." of a path, or another process was first
        return os.open(name, FOLDER, dir_fd=above)
    below = os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=above)
    give(below)
    return below


@contextmanager
def opened(folder: Path, flags: int = 0) -> Iterator[int]:
    """The descriptor of a folder."""
    descriptor = os.open(folder, FOLDER | flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
