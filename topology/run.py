# SPDX-License-Identifier: GPL-2.0-only
"""Commands as argv lists through one function, in this namespace or another's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TIMEOUT_S = 600
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


class CommandError(RuntimeError):
    """A command that failed: what was attempted and what it said, in one line."""


def run(argv: Sequence[str], stdin: str = "") -> str:
    """Run a command and return its standard output.

    Raises:
        CommandError: it left with a status other than 0 or took over TIMEOUT_S.
    """
    try:
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, env=ENVIRONMENT
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            f"the command did not end within {TIMEOUT_S} s: {' '.join(argv)[:200]}"
        ) from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise CommandError(f"{' '.join(argv)[:200]} failed with status {done.returncode}: {said}")
    return done.stdout


def batch(tool: str, lines: Sequence[str]) -> None:
    """Run many lines through one `ip -batch` or `tc -batch`; the first failure raises."""
    if lines:
        run([tool, "-batch", "-"], "\n".join(lines) + "\n")


@contextmanager
def in_namespace(pid: int) -> Iterator[None]:
    """Enter the network namespace of a process for the duration."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    away = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        os.setns(away, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(away)
        os.close(home)
