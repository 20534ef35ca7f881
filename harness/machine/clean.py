# SPDX-License-Identifier: GPL-2.0-only
"""Ends and removes what killed runs left: labs whose owner is gone, and on demand more."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.campaign.lock import locked
from harness.host import owner, paths, temporary
from harness.labs import native
from harness.machine import cache as kept
from plan.errors import CellbedError, UsageError

END_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """What was found: removed, and with its reason what could not be."""

    removed: list[str] = field(default_factory=list)
    stayed: list[str] = field(default_factory=list)

    def note(self, what: str, reason: str) -> None:
        """One thing, and why it could not be removed, if so."""
        if reason:
            self.stayed.append(f"{what}: {reason}")
        else:
            self.removed.append(what)

    def add(self, other: Leftovers) -> None:
        """What was found elsewhere."""
        self.removed.extend(other.removed)
        self.stayed.extend(other.stayed)


def remove_leftovers() -> Leftovers:
    """What this user's killed runs left: processes of labs, temporary folders, the module."""
    found = Leftovers()
    for folder in ownerless(Path(tempfile.gettempdir())):
        found.note(str(folder), remove_lab(folder))
    found.add(remove_partials())
    if native.left_module():
        found.note(f"module {native.MODULE}", native.take_out_module())
    return found


def ownerless(place: Path) -> list[Path]:
    """Temporary folders and logs of this user whose owner is gone. None of them is opened."""
    found = []
    for path in sorted(place.iterdir()):
        name = temporary.NAME.fullmatch(path.name)
        if name and is_own(path) and not owner.alive(name["owner"]):
            found.append(path)
    return found


def is_own(path: Path) -> bool:
    """A directory or a plain file of this user, and no link to one."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        plain = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
        return plain and status.st_uid == os.geteuid()
    return False


def remove_lab(folder: Path) -> str:
    """End what runs in a lab folder, then remove it; returns what stood against it."""
    end = time.monotonic() + END_S
    while running := list(processes(folder)):
        if time.monotonic() > end:
            return f"processes {', '.join(map(str, running))} do not end"
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return kept.remove(folder)


def processes(folder: Path) -> Iterator[int]:
    """Processes of this user that belong to a lab, known by what it was started with."""
    home = b"HOME=" + os.fsencode(folder)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            own = process.stat().st_uid == os.geteuid()
            if own and home in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)


def remove_campaign(folder: Path) -> None:
    """A campaign directory, and nothing that is not one."""
    if not (folder / "campaign.json").is_file():
        raise UsageError(f"{folder} is not the folder of a campaign")
    with locked(folder):
        shutil.rmtree(folder)


def remove_partials() -> Leftovers:
    """What killed set-ups left half made; nothing while anything is being made."""
    found = Leftovers()
    cache = paths.places()["cache"]
    held = kept.locked_all(cache)
    if held is not None:
        with held:
            for path in kept.partials(cache):
                if is_own(path):
                    found.note(str(path), kept.remove(path))
    return found


def remove_cache() -> Leftovers:
    """All that cellbed made in the cache, and the folder where nothing else is in it.

    Raises:
        CellbedError: something is being made there.
    """
    cache = paths.places()["cache"]
    held = kept.locked_all(cache)
    if held is None:
        raise CellbedError(f"{cache}: another process writes there; try again when it has ended")
    with held:
        tried = [(path, kept.remove(path)) for path in kept.products(cache)]
    stayed = [f"{path}: {reason}" for path, reason in tried if reason]
    for folder in (*(cache / name for name in kept.BELOW), cache):
        with suppress(OSError):  # something else is in it
            folder.rmdir()
    if not cache.exists():
        return Leftovers(removed=[str(cache)])
    others = ", ".join(sorted(path.name for path in cache.iterdir()))
    return Leftovers(removed=[f"what cellbed made in {cache}; left: {others}"], stayed=stayed)
