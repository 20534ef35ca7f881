# SPDX-License-Identifier: GPL-2.0-only
"""A table on the terminal, as the command line prints all of its."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.host.plain import only_lines

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

MOST_FOLDED = 12  # what is longer than this is folded where there is no room
PLAIN_WIDTH = 100


@dataclass
class Plain:
    """Where only lines are read, in the place of rich's Console, whose import takes time."""

    width: int = PLAIN_WIDTH

    def console(self) -> Console:
        """Rich's, for what has to be folded."""
        from rich.console import Console

        return Console(width=self.width)


def of_stdout() -> Console | Plain:
    """What a command prints its results with: as wide as a terminal."""
    if only_lines(sys.stdout):
        return Plain()
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def say(text: str, console: Console | Plain, *, wrap: bool = False) -> None:
    """Print a line, however long it is, or with `wrap` as many lines as it needs."""
    short = not wrap or (text.isascii() and len(text) <= console.width)
    short = short and (len(text) <= console.width or not text.endswith(" "))  # rich takes them away
    if isinstance(console, Plain) and text.isprintable() and short:
        print(text)
        return
    from rich.text import Text

    rich = console.console() if isinstance(console, Plain) else console
    rich.print(Text(text), soft_wrap=not wrap)


def cell_len(text: str) -> int:
    """How many places a text takes in its line."""
    if text.isascii():
        return len(text)
    from rich import cells

    return cells.cell_len(text)


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    console: Console | Plain,
    *,
    fold: int,
    left: Collection[int],
) -> None:
    """Print a table, wider than the console if it must be: no number is ever cut.

    Where it is too wide the gaps become single spaces; then headings are folded, and columns.

    Args:
        fold: so many columns, from the left, may be folded.
        left: columns that are aligned to the left.
    """
    values = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    natural = [max(cell_len(h), width) for h, width in zip(headings, values, strict=True)]
    gap = 2 if sum(natural) + 2 * (len(natural) - 1) <= console.width else 1
    widths = [min(width, MOST_FOLDED) for width in values[:fold]]
    for heading, width in zip(headings[fold:], values[fold:], strict=True):
        widths.append(max(width, *map(len, heading.split())))
    console.width = max(console.width, sum(widths) + gap * (len(widths) - 1))
    widen(widths, natural, console.width - sum(widths) - gap * (len(widths) - 1))
    lines = [headings, *rows]
    if isinstance(console, Plain):
        texts = [text for line in lines for text in line]
        easy = all(x.isascii() and x.isprintable() and x == x.strip() for x in texts)
        if easy and widths == natural and sum(widths) + gap * len(widths) <= console.width:
            widths[-1] += gap  # as rich has it
            for line in lines:
                print((" " * gap).join(aligned(line, widths, left)))
            return
        console = console.console()
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for place, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        justify: JustifyMethod = "left" if place in left else "right"
        grid.add_column(Text(heading), justify=justify, overflow="fold", width=width)
    for row in rows:
        grid.add_row(*map(Text, row))
    console.print(grid)


def aligned(line: Sequence[str], widths: Sequence[int], left: Collection[int]) -> list[str]:
    """The cells of a line of a table with their spaces."""
    return [
        text.ljust(width) if place in left else text.rjust(width)
        for place, (text, width) in enumerate(zip(line, widths, strict=True))
    ]


def widen(widths: list[int], natural: Sequence[int], room: int) -> None:
    """Give the room there is, in place, to the narrowest of the columns that need some."""
    while room > 0 and (narrow := [n for n, width in enumerate(widths) if width < natural[n]]):
        widths[min(narrow, key=lambda n: widths[n])] += 1
        room -= 1
