# SPDX-License-Identifier: GPL-2.0-only
"""A table on the terminal, as the command line prints all of its."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

MOST_FOLDED = 12  # what is longer than this is folded where there is no room


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    console: Console,
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
    grid = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for place, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        justify: JustifyMethod = "left" if place in left else "right"
        grid.add_column(Text(heading), justify=justify, overflow="fold", width=width)
    for row in rows:
        grid.add_row(*map(Text, row))
    console.print(grid)


def widen(widths: list[int], natural: Sequence[int], room: int) -> None:
    """Give the room there is, in place, to the narrowest of the columns that need some."""
    while room > 0 and (narrow := [n for n, width in enumerate(widths) if width < natural[n]]):
        widths[min(narrow, key=lambda n: widths[n])] += 1
        room -= 1
