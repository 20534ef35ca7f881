# SPDX-License-Identifier: GPL-2.0-only
"""Where a lab's memory is kept: a file that programs are run from.

In RAM it is fast, but in most containers /dev/shm has 64 MiB or is not for programs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

# What a lab of 100 pairs touches at most.
PER_LAB_MIB = 1024
PLACES = (Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"))


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder; unfit: why no memory can be there; passed: why none before it was taken."""

    path: Path
    free_mib: int
    unfit: str = ""
    passed: str = ""

    @property
    def fault(self) -> str:
        """What is against it, also where a small lab might do."""
        short = f"{self.free_mib} MiB free" if self.free_mib < PER_LAB_MIB else ""
        return self.unfit or short


def place(places: Sequence[Path] = PLACES) -> Place:
    """TMPDIR where it is set, else the first without a fault, else the one with most room."""
    if named := os.environ.get("TMPDIR"):
        return replace(looked_at(Path(named).absolute()), passed="TMPDIR names it")
    found = [looked_at(path) for path in places]
    best = max(found, key=lambda one: (not one.unfit, one.free_mib))
    chosen = next((one for one in found if not one.fault), best)
    passed = [f"{one.path}: {one.fault}" for one in found[: found.index(chosen)]]
    return replace(chosen, passed="; ".join(passed))


def looked_at(path: Path) -> Place:
    """Is a folder one for a lab's memory?"""
    try:
        status = os.statvfs(path)
    except OSError as error:
        return Place(path=path, free_mib=0, unfit=f"{error.strerror}")
    unfit = ""
    if not os.access(path, os.W_OK | os.X_OK):
        unfit = "cannot be written"
    elif status.f_flag & os.ST_NOEXEC:
        unfit = "mounted noexec, and a lab runs programs from its memory"
    return Place(path=path, free_mib=status.f_bavail * status.f_frsize >> 20, unfit=unfit)
