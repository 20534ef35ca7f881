# SPDX-License-Identifier: GPL-2.0-only
"""What a lab is told of the script that it runs. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = "job.json"
INPUT = "input"
# The host's folder of the script, by the name of its share; in the lab it is WORK.
SHARE = "theirs"
WORK = Path("/work")
# What the kernel's build says of the modules that are built in, and its configuration.
BUILT_IN = ("modules.builtin", "modules.builtin.modinfo")
CONFIG = "kernel-config"
# What a kernel says of a process that it kills because its memory is full (mm/oom_kill.c).
KILLED = re.compile(r"Out of memory: Killed process \d+ \((.*)\) total-vm:")
# What was written into it and into /tmp, in the results of the run directory.
KEPT = ("work", "tmp")


@dataclass(frozen=True, kw_only=True)
class ScriptJob:
    """A script, and what bounds it.

    Attributes:
        argv: the command.
        modules: kernel modules of the run directory that the lab needs.
        beside: commands of a shell that begin before the script and end with it.
        python2: `python` is for scripts of Python 2.
        own_kernel: the lab's kernel is nobody else's.
        limit_s: how long it may take, by the lab's clock [s].
        disk_mib: how much it may write to its folder, to /tmp, and elsewhere, each [MiB].
        output_mib: how much it may say [MiB].
        processes: how many processes there may be.
        terminal: it has the lab's terminal, and no input file.
    """

    argv: Sequence[str]
    modules: Sequence[str]
    beside: Sequence[str]
    python2: bool
    own_kernel: bool
    limit_s: float
    disk_mib: int
    output_mib: int
    processes: int
    terminal: bool
