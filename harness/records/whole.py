# SPDX-License-Identifier: GPL-2.0-only
"""Files and folders that have their name only when they are whole, and belong to who asked."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.host import ownership

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def whole_folder(parent: Path, name: str) -> Iterator[Path]:
    """A new folder to fill, under another name until the `with` ends without an error.

    One that is there under the name by then stays as it is, and the new one goes. After an
    error nothing is left of it, so that a disk which has no more room has some again.
    """
    partial = parent / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with naming(parent / name):
        try:
            partial.mkdir(parents=True)
            yield partial
            ownership.give_folder(partial)
            write_to_disk(partial)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        try:
            partial.rename(parent / name)
        except OSError:
            if not (parent / name).exists():
                raise
            shutil.rmtree(partial)
        sync(parent)


def write_to_disk(folder: Path) -> None:
    """Wait until a folder and its files are on the disk: a name must not be there before them."""
    for path in sorted(folder.iterdir()):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some shared folders know it of files only
            raise
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a text file, or leave the one that is there as it is; several may do so together."""
    ours = f".{path.name}.{socket.gethostname()}."  # of another machine's nobody here can tell
    partial = path.with_name(f"{ours}{os.getpid()}")
    for left in path.parent.iterdir():
        begins, number = left.name.startswith(ours), left.name.removeprefix(ours)
        if not begins or not number.isdecimal():  # the machine's name may go on: a.b begins as a
            continue
        if left == partial or not Path("/proc", number).exists():
            left.unlink(missing_ok=True)
    with naming(path):
        try:
            with os.fdopen(os.open(partial, NEW, mode), "w", encoding="utf-8") as stream:
                ownership.give(stream.fileno())
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def append_whole(path: Path, line: str) -> None:
    """Add a line to a text file, or leave the file as it is."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with naming(path):
        try:
            descriptor = os.open(path, NEW | os.O_APPEND, 0o644)
            ownership.give(descriptor)
        except FileExistsError:
            descriptor = os.open(path, flags)
        size = os.fstat(descriptor).st_size
        try:
            data = memoryview(f"{line}\n".encode())
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise
        finally:
            os.close(descriptor)


def drop_torn_line(path: Path) -> None:
    """Take off what a killed process left of a last line; the file may be missing."""
    with suppress(FileNotFoundError), naming(path):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb+") as stream:
            stream.truncate(stream.read().rfind(b"\n") + 1)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of a write does not say which file; give it the name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
