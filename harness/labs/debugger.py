# SPDX-License-Identifier: GPL-2.0-only
"""Holds a lab's kernel at its begin until gdb has attached to it, in another terminal."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.labs.supervised import SupervisedLab

LOOK_S = 0.01
COMMANDS = "gdb"  # the file with them, in the lab's folder
# User-Mode Linux lives on signals; these are no faults of it.
PASSED = "SIGSEGV SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGIO SIGCHLD SIGWINCH SIGCONT"
TRACER = re.compile(r"^TracerPid:\s*(\d+)", re.MULTILINE)


def commands(pid: int, linux: Path, breakpoint_at: str) -> str:
    """What gdb is to do first: attach, and run to the breakpoint."""
    return "".join(
        f"{line}\n"
        for line in (
            "set pagination off",
            "set sysroot /",
            f"file {linux}",
            f"attach {pid}",
            *(f"handle {name} nostop noprint pass" for name in PASSED.split()),
            f"break {breakpoint_at}",
            "continue",
        )
    )


def wait(lab: SupervisedLab, linux: Path, breakpoint_at: str) -> None:
    """Stop a lab's kernel, say how to attach, and let it go on when gdb has.

    Args:
        linux: the kernel's file, with the symbols.
    """
    pid = None
    while pid is None and lab.poll() is None:
        pid = next(filter(is_kernel, lab.kernel_processes()), None)
        time.sleep(LOOK_S)
    if pid is None:
        return  # its end is told where it is waited for
    os.kill(pid, signal.SIGSTOP)
    script = lab.run_directory / COMMANDS
    script.write_text(commands(pid, linux, breakpoint_at))
    print(
        f"The lab's kernel waits for gdb. Type in another terminal: gdb -x {script}",
        file=sys.stderr, flush=True,
    )  # fmt: skip
    while lab.poll() is None and not traced(pid):
        time.sleep(LOOK_S)
    if lab.poll() is None:
        os.kill(pid, signal.SIGCONT)


def is_kernel(pid: int) -> bool:
    """Is a process the kernel already? Until then it is what makes the boundary around it."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip() == "linux"
    return False


def traced(pid: int) -> bool:
    """Has a debugger attached to a process?"""
    try:
        found = TRACER.search(Path(f"/proc/{pid}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False
    return found is not None and found[1] != "0"
