# SPDX-License-Identifier: GPL-2.0-only
"""Unpacks archives below a folder and never outside of it; none of their programs is run."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

# Of a package nobody looks here, and it is half of the files.
LEFT_OUT = ("usr/share/doc/", "usr/share/info/", "usr/share/locale/", "usr/share/man/")
HEAD = b"!<arch>\n"
MOST_LINKS = 40


class UnpackError(Exception):
    """An archive that cannot be unpacked, as a sentence."""


def data(deb: BinaryIO, name: str) -> tarfile.TarFile:
    """The files of a package: a deb is an ar archive, of which the tar of files is a member.

    Raises:
        UnpackError: it is no such archive.
    """
    for member, size in members(deb, name):
        if member.startswith("data.tar"):
            try:
                return tarfile.open(fileobj=deb, mode="r|*")
            except tarfile.TarError as error:
                raise UnpackError(f"{name}: {member} cannot be read: {error}") from error
        deb.seek(size + size % 2, os.SEEK_CUR)
    raise UnpackError(f"{name} is no package of Debian: it has no data")


def members(deb: BinaryIO, name: str) -> Iterator[tuple[str, int]]:
    """Names and sizes of an ar archive's members, the stream being at the begin of each."""
    if deb.read(len(HEAD)) != HEAD:
        raise UnpackError(f"{name} is no package of Debian")
    for head in iter(lambda: deb.read(60), b""):
        yield head[:16].decode("ascii", "replace").rstrip(" /"), int(head[48:58])


def unpack(
    archive: tarfile.TarFile,
    tree: Path,
    wanted: Callable[[str], bool] = lambda name: not name.startswith(LEFT_OUT),
) -> dict[str, int]:
    """Write the files below a tree; gives the modes of its folders, which are to be set at the end.

    Files belong to who calls this. Folders can be written and files be read by their owner, so
    that the tree can be removed again.

    Raises:
        UnpackError: a file that would lie outside of the tree, or is none.
    """
    modes = {}
    for member in archive:
        name = os.path.normpath(member.name)
        if name == "." or not wanted(name):
            continue
        if member.isdir():
            modes[name] = member.mode & 0o1777 | 0o700
            folder(tree, name)
        else:
            write(archive, member, tree, place(tree, name))
    return modes


def folder(tree: Path, name: str) -> None:
    """Make a folder, or leave what leads to one."""
    path = place(tree, name)
    if not path.is_symlink() and not path.is_dir():
        path.mkdir(exist_ok=True)  # another package, unpacked at the same time, may have it, too


def place(tree: Path, name: str) -> Path:
    """Where a name is, seen from within the tree: no link on the way leads out of it.

    Raises:
        UnpackError: the name does.
    """
    if os.path.isabs(name) or ".." in name.split("/") or "\0" in name:
        raise UnpackError(f"the name {name!r} in an archive leads out of its folder")
    parents = name.split("/")
    last = parents.pop()
    here: list[str] = []
    links = 0
    while parents:
        part = parents.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            here = here[:-1]
            continue
        path = tree.joinpath(*here, part)
        if path.is_symlink():
            links += 1
            if links > MOST_LINKS:
                raise UnpackError(f"the name {name!r} in an archive is a circle of links")
            target = os.readlink(path)
            here = [] if target.startswith("/") else here
            parents = target.split("/") + parents
            continue
        path.mkdir(exist_ok=True)
        here.append(part)
    return tree.joinpath(*here, last)


def write(archive: tarfile.TarFile, member: tarfile.TarInfo, tree: Path, path: Path) -> None:
    """One file or link, in the place of whatever is there."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    if member.issym():
        path.symlink_to(member.linkname)
        return
    if member.islnk():
        other = place(tree, os.path.normpath(member.linkname))
        if other.is_symlink() or not other.is_file():
            raise UnpackError(f"{member.name!r} is a link to {member.linkname!r}, which is no file")
        os.link(other, path)
        return
    content = archive.extractfile(member)
    if not member.isreg() or content is None:
        raise UnpackError(f"{member.name!r} in an archive is neither file, folder nor link")
    with path.open("wb") as stream:
        shutil.copyfileobj(content, stream, 1 << 20)
        # Root's set-up would else leave programs that make everybody root.
        os.fchmod(stream.fileno(), stat.S_IMODE(member.mode) & 0o1777 | 0o600)
    os.utime(path, (member.mtime, member.mtime))


def set_modes(tree: Path, modes: dict[str, int]) -> None:
    """Give the folders their modes."""
    for name in sorted(modes):
        path = place(tree, name)
        if not path.is_symlink():
            path.chmod(modes[name])
