# SPDX-License-Identifier: GPL-2.0-only
"""A step of a build: programs that end with this process, whatever ends it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

KEEPER = Path(__file__).with_name("keeper.py")


def run(
    argv: Sequence[str | Path],
    log: BinaryIO,
    look: Callable[[], None] = lambda: None,
    every_s: float | None = None,
) -> int:
    """Run a program, and return its exit code. Inheritable descriptors stay open in it.

    A program that compiles has many processes. Each of them ends with this process: a compiler
    that goes on alone would hold the processor for minutes after a person has ended the command.

    Args:
        look: called again and again while the program runs.
        every_s: the time between two calls of it; None: it is not called.
    """
    keeper = subprocess.Popen(
        [sys.executable, "-IS", KEEPER, str(os.getpid()), *argv],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False, start_new_session=True,
    )  # fmt: skip
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return keeper.wait(every_s)
            look()
    finally:
        if keeper.returncode is None:
            keeper.terminate()
            keeper.wait()
