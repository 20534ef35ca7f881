# SPDX-License-Identifier: GPL-2.0-only
"""One process at a time works in a campaign directory: a lock that ends with its holder.

The lock is the kernel's (flock) on a file of the directory, which names the holder for the
person who is refused. The file stays: whoever removed it could take a lock nobody sees.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from analysis.campaign_file import NAME as HEADER
from analysis.under_way import LOCK as NAME
from harness.host import ownership
from harness.records.whole import naming
from plan.errors import UsageError

LOCK_TRIES, BETWEEN_S = 5, 0.02  # a report looks whether the lock is held, by taking it


@contextmanager
def locked(folder: Path, name: str = NAME) -> Iterator[None]:
    """Hold a campaign directory, which is there.

    Args:
        name: of the lock's file, for a folder of another kind.

    Raises:
        UsageError: another process holds it.
    """
    path = folder / name
    descriptor = open_lock(path)
    try:
        try:
            take(descriptor)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
            text = f"{folder}: {holder or 'another process'} uses this folder; wait until it ends"
            raise UsageError(text) from None
        with naming(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def only_begun(folder: Path) -> bool:
    """Has a folder nothing but what a command leaves that was killed before it wrote a header?"""
    return all(one.name == NAME or one.name.startswith(f".{HEADER}.") for one in folder.iterdir())


def take(descriptor: int) -> None:
    """The lock for this process alone; BlockingIOError where another one holds it."""
    for _ in range(LOCK_TRIES - 1):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(BETWEEN_S)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def open_lock(path: Path) -> int:
    """The file of the lock, made if it is not there; never another one by a link."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return os.open(path, flags)
    ownership.give(descriptor)
    return descriptor
