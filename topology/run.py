# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands, given as argv lists, in this namespace or another one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TIMEOUT_S = 600
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


class CommandError(RuntimeError):
    """A command failed; the text has the command and its output in one line."""


def run(argv: Sequence[str], stdin: str = "", limit_s: float = TIMEOUT_S) -> str:
    """Run a command and return its standard output.

    Raises:
        CommandError: its exit status was not 0, or it took longer than `limit_s`.
    """
    try:
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, timeout=limit_s, env=ENVIRONMENT
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            f"the command did not end within {limit_s:.0f} s: {' '.join(argv)[:200]}"
        ) from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise CommandError(f"{' '.join(argv)[:200]} failed with status {done.returncode}: {said}")
    return done.stdout


def batch(tool: str, lines: Sequence[str]) -> None:
    """Run many lines through one `ip -batch` or `tc -batch`; raise at the first failure."""
    if lines:
        run([tool, "-batch", "-"], "\n".join(lines) + "\n")


@contextmanager
def in_namespace(pid: int) -> Iterator[None]:
    """Enter the network namespace of a process for the duration of a `with`."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    away = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        os.setns(away, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(away)
        os.close(home)
