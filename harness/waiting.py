# SPDX-License-Identifier: GPL-2.0-only
"""Tells a person who waits how many of several pieces of work have ended, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EACH_S = 5.0

Told = Callable[[int, int], None]
"""Called with how many have ended, and of how many, again and again."""


def silent(ended: int, total: int) -> None:
    """Tell nobody."""


@contextmanager
def waiting(what: str) -> Iterator[Told]:
    """Show it on standard error: a bar on a terminal, elsewhere a line every few seconds."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(what, lambda line: console.print(line, soft_wrap=True, highlight=False))
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda ended, total: progress.update(bar, completed=ended, total=total)


class Lines:
    """A line every few seconds, with the time to the end if the rest takes as long."""

    def __init__(self, what: str, say: Callable[[str], None]) -> None:
        self.what, self.say = what, say
        self.began_s = self.said_s = time.monotonic()

    def __call__(self, ended: int, total: int) -> None:
        now_s = time.monotonic()
        if now_s - self.said_s < EACH_S:
            return
        self.said_s = now_s
        left_s = (total - ended) * (now_s - self.began_s) / ended if ended else None
        left = "" if left_s is None else f"; about {left_s:.0f} s left"
        self.say(f"{self.what}: {ended} of {total} have ended{left}")
