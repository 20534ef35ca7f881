# SPDX-License-Identifier: GPL-2.0-only
"""Names of processes that stay true: a process number comes back, with its start it does not."""

from __future__ import annotations

import os
from pathlib import Path


def start_time(pid: int) -> int:
    """When a process began, in the kernel's ticks since the machine's start."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def this_process() -> str:
    """The name of the process that asks: PID-START."""
    return f"{os.getpid()}-{start_time(os.getpid())}"


def alive(name: str) -> bool:
    """Does the process of this name still run? A text that is no such name has none."""
    pid, _, start = name.partition("-")
    try:
        return start_time(int(pid)) == int(start)
    except (OSError, ValueError):
        return False
