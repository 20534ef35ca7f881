# SPDX-License-Identifier: GPL-2.0-only
"""Examines the machine: what it can do, what is missing, how to get it."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from harness import paths

MEMORY_PER_LAB_MIB = 1024
DISK_MIB = 3000


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing looked at: `state` is "ok", "note" or "missing"."""

    what: str
    state: str
    detail: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def line(self) -> str:
        """For a person, one line."""
        tail = f"  ->  {self.remedy}" if self.remedy else ""
        return f"{self.state:8}{self.what:18}{self.detail}{tail}"


def examine() -> list[Finding]:
    """Everything, in the order in which it is needed."""
    return [machine(), memory(), disk(), shared_memory(), *products(), kvm()]


def machine() -> Finding:
    """x86-64 Linux: the uml lab's kernel is built for it."""
    system = f"{platform.machine()} {platform.system()} {platform.release()}"
    fits = platform.machine() == "x86_64" and platform.system() == "Linux"
    remedy = "" if fits else "the uml lab needs x86-64 Linux"
    detail = f"{system}, {os.cpu_count()} cores"
    return Finding(what="machine", state="ok" if fits else "missing", detail=detail, remedy=remedy)


def memory() -> Finding:
    """Memory that can be had now, against what one lab touches."""
    fields = dict(
        line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines()
    )
    available = int(fields["MemAvailable"].split()[0]) // 1024
    enough = available >= MEMORY_PER_LAB_MIB
    return Finding(
        what="memory",
        state="ok" if enough else "missing",
        detail=f"{available} MiB available",
        remedy="" if enough else f"a lab of 100 pairs touches up to {MEMORY_PER_LAB_MIB} MiB",
    )


def disk() -> Finding:
    """Room for what set-up makes."""
    cache = paths.places()["cache"]
    existing = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(existing).free // 2**20
    enough = free >= DISK_MIB
    return Finding(
        what="disk",
        state="ok" if enough else "missing",
        detail=f"{free} MiB free at {existing}",
        remedy="" if enough else f"set-up needs {DISK_MIB} MiB; CELLBED_CACHE names another place",
    )


def shared_memory() -> Finding:
    """A lab's memory is a file; in RAM it is fast."""
    place = paths.memory_directory()
    free = shutil.disk_usage(place).free // 2**20
    enough = free >= MEMORY_PER_LAB_MIB
    return Finding(
        what="lab memory",
        state="ok" if enough else "missing",
        detail=f"{free} MiB free at {place}",
        remedy="" if enough else f"{MEMORY_PER_LAB_MIB} MiB a lab; TMPDIR names another place",
    )


def products() -> list[Finding]:
    """What set-up makes."""
    found = []
    for name in ("image", "kernel", "programs", "environment"):
        path = paths.places()[name]
        there = path.exists()
        found.append(
            Finding(
                what=f"lab {name}" if name != "environment" else "environment",
                state="ok" if there else "missing",
                detail=str(path),
                remedy="" if there else "./cellbed setup",
            )
        )
    return found


def kvm() -> Finding:
    """Not needed by the uml lab; said because people ask."""
    usable = os.access("/dev/kvm", os.R_OK | os.W_OK)
    return Finding(
        what="kvm", state="ok" if usable else "note", detail="usable" if usable else "not usable;"
        " the uml lab does without"
    )  # fmt: skip
