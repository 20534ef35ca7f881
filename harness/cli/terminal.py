# SPDX-License-Identifier: GPL-2.0-only
"""A person's terminal and a lab's: bytes both ways."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from harness.labs import Lab

CHUNK = 65536
POLL_S = 0.2


def converse(lab: Lab, master: int) -> None:
    """Pass bytes both ways until the lab has ended."""
    sources = [master, sys.stdin.fileno()]
    while lab.poll() is None:
        ready, _, _ = select.select(sources, [], [], POLL_S)
        if master in ready:
            try:
                os.write(sys.stdout.fileno(), os.read(master, CHUNK))
            except OSError:  # the lab has closed its end
                return
        if sys.stdin.fileno() in ready:
            typed = os.read(sys.stdin.fileno(), CHUNK)
            if typed:
                os.write(master, typed)
            else:
                sources.remove(sys.stdin.fileno())


@contextmanager
def raw_terminal() -> Iterator[None]:
    """Keystrokes go to the lab as they come; the terminal is as before afterwards."""
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
