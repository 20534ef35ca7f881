# SPDX-License-Identifier: GPL-2.0-only
"""Gives the lab's kernel a congestion control in BPF. Standard library only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from plan.struct_ops import CONFIG

# Where libbpf looks for the options of the kernel that runs. This kernel has no /proc/config.gz.
OPTIONS = Path(f"/boot/config-{os.uname().release}")
OURS = Path("/opt/cellbed") / CONFIG
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
# A program with a link stays in the kernel only as long as the link has a file.
LINKS = "/sys/fs/bpf"
TIMEOUT_S = 600
# The last line of the kernel's log about a program. The reason stands before it.
END = "processed "
# What libbpf says without a program's log: first the cause, and then what came of it.
LIBRARY = "libbpf: "
NO_CAUSE = ("failed to load object ", "elf: skipping ")
# Programs and names that are in this lab's kernel; its agent lives as long as the kernel.
REGISTERED: set[tuple[str, str]] = set()


class RefusedError(RuntimeError):
    """A program that the kernel does not take; one line."""


def register(program: str, congestion: str) -> None:
    """Register a program unless this lab has registered it for a trial before.

    Raises:
        RefusedError: the kernel does not take it, has another congestion control of this name, or
            has none of this name afterwards.
    """
    if (program, congestion) in REGISTERED:
        return
    if congestion in available():  # its flows would run the kernel's own
        raise RefusedError(
            f"{program}: the kernel has a congestion control {congestion} already; give yours"
            " another name"
        )
    if OURS.exists() and not OPTIONS.exists():
        OPTIONS.parent.mkdir(exist_ok=True)
        OPTIONS.symlink_to(OURS)
    argv = ["bpftool", "struct_ops", "register", f"/opt/cellbed/{program}", LINKS]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    # A file may have another congestion control, which the kernel refuses, beside the flavor's.
    there = congestion in available()
    if done.returncode != 0 and not there:
        raise RefusedError(f"the kernel refused {program}: {reason(done.stderr)}")
    if not there:
        raise RefusedError(
            f"{program}: the kernel took this program, and has no congestion control {congestion}"
            f" afterwards; give it the name {congestion}, or name the file after what it registers"
        )
    REGISTERED.add((program, congestion))


def available() -> list[str]:
    """The congestion controls that the kernel has."""
    return AVAILABLE.read_text().split()


def reason(said: str) -> str:
    """Why the kernel refused a program: the end of its log with the line of the source."""
    return "; ".join(reasons([line.strip() for line in said.splitlines() if line.strip()]))


def reasons(lines: list[str]) -> Iterator[str]:
    """The line of the kernel's log before its end, and the line of the source above it."""
    end = next((at for at, line in enumerate(lines) if line.startswith(END)), 0)
    if end == 0:  # it failed before the kernel looked at any program
        said = [line.removeprefix(LIBRARY) for line in lines if line.startswith(LIBRARY)]
        causes = [line for line in said if not line.startswith(NO_CAUSE)]
        yield (causes or lines[-1:] or ["bpftool said nothing"])[0]
        return
    yield lines[end - 1]
    yield from [line.removeprefix("; ") for line in lines[:end] if line.startswith("; ")][-1:]
