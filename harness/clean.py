# SPDX-License-Identifier: GPL-2.0-only
"""Removes what killed runs left: lab folders whose owner is gone, and on demand more."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from harness import paths
from harness.errors import UsageError
from harness.labs.native import take_out_module
from harness.lock import locked

LAB_PREFIX = "cellbed-lab."
OWNER = "owner"


def start_time(pid: int | str) -> str:
    """When a process began, in the kernel's ticks: with its number it names it for good."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def mark_owner(folder: Path) -> None:
    """Note in a lab folder which process it belongs to."""
    (folder / OWNER).write_text(f"{os.getpid()} {start_time(os.getpid())}\n")


def owner_alive(folder: Path) -> bool:
    """Does the process that made a lab folder still run?"""
    try:
        pid, start = (folder / OWNER).read_text().split()
        return start_time(pid) == start
    except (OSError, ValueError):
        return False


def remove_leftovers() -> list[Path]:
    """Lab folders of runs that were killed; their kernels ended with their owner."""
    left = [f for f in Path(tempfile.gettempdir()).glob(LAB_PREFIX + "*") if not owner_alive(f)]
    for folder in left:
        take_out_module(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return left


def remove_campaign(folder: Path) -> None:
    """A campaign directory, and nothing that is not one."""
    if not (folder / "campaign.json").is_file():
        raise UsageError(f"{folder}: not a campaign directory")
    with locked(folder):
        shutil.rmtree(folder)


def remove_cache() -> Path:
    """All that set-up made."""
    cache = paths.places()["cache"]
    shutil.rmtree(cache, ignore_errors=True)
    return cache
