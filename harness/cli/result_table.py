# SPDX-License-Identifier: GPL-2.0-only
"""The finished trials as a table, as wide as it may be; its numbers are never cut. And as JSON.

What all trials have in common stands above it, what failed below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

Document = Mapping[str, Any]

COSTS = ("virt s", "wall s", "checks")
MOST_FOLDED = 12  # a level longer than this is folded where there is no room


def print_results(documents: Sequence[Document], console: Console) -> None:
    """Print one row a trial: levels, measured and published figures, seconds, checks."""
    all_levels = [levels(document) for document in documents]
    common = {n: x for n, x in all_levels[0].items() if {found[n] for found in all_levels} == {x}}
    names = [name for name in all_levels[0] if name not in common]
    common.pop("seed", None)
    if common:
        console.print(Text(", ".join(map(" ".join, common.items()))), soft_wrap=True)
    cells = [[found[name] for name in names] for found in all_levels]
    responses = documents[0]["responses"]
    rows = [
        [*of, *figures(document, responses)] for of, document in zip(cells, documents, strict=True)
    ]
    headings = [text for short in responses.values() for text in (short, "paper")]
    print_grid([*names, *headings, *COSTS], rows, len(names), console)
    for document in documents:
        failed = [check["name"] for check in document["checks"] if not check["ok"]]
        if failed:
            text = f"{document['trial']}: invalid: {', '.join(failed)}"
            console.print(Text(text), soft_wrap=True)


def print_grid(
    headings: Sequence[str], rows: Sequence[Sequence[str]], factors: int, console: Console
) -> None:
    """Print rows of which the first `factors` columns are levels; wider than the console if must.

    Where it is too wide the gaps become single spaces; then headings are folded, and levels.
    """
    values = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    natural = [max(cell_len(h), width) for h, width in zip(headings, values, strict=True)]
    gap = 2 if sum(natural) + 2 * (len(natural) - 1) <= console.width else 1
    widths = [min(width, MOST_FOLDED) for width in values[:factors]]
    for heading, width in zip(headings[factors:], values[factors:], strict=True):
        widths.append(max(width, *map(len, heading.split())))
    console.width = max(console.width, sum(widths) + gap * (len(widths) - 1))
    widen(widths, natural, console.width - sum(widths) - gap * (len(widths) - 1))
    grid = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for place, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        justify: JustifyMethod = "left" if place < factors or heading == "checks" else "right"
        grid.add_column(Text(heading), justify=justify, overflow="fold", width=width)
    for row in rows:
        grid.add_row(*map(Text, row))
    console.print(grid)


def widen(widths: list[int], natural: Sequence[int], room: int) -> None:
    """Give the room there is, in place, to the narrowest of the columns that need some."""
    while room > 0 and (narrow := [n for n, width in enumerate(widths) if width < natural[n]]):
        widths[min(narrow, key=lambda n: widths[n])] += 1
        room -= 1


def levels(document: Document) -> dict[str, str]:
    """A trial's levels, and its seed."""
    of_cell = {factor: str(level) for factor, level in document["factors"].items()}
    return {**of_cell, "seed": str(document["seed"])}


def figures(document: Document, responses: Iterable[str]) -> list[str]:
    """A trial's figures as text: each response and its published value, then COSTS."""
    both = (document["metrics"], document["published"])
    return [
        *(figure(values.get(name)) for name in responses for values in both),
        f"{document['virtual_s']:.0f}",
        f"{document['wall_s']:.0f}",
        verdict(document["checks"]),
    ]


def figure(value: float | None) -> str:
    """Four digits as the paper prints them, a dash where there is none."""
    return "-" if value is None else f"{value:.4f}"


def verdict(checks: Sequence[Document]) -> str:
    """How many checks passed, or how many did not."""
    failed = sum(not check["ok"] for check in checks)
    return f"{failed} FAILED" if failed else f"{len(checks)} ok"


def why_invalid(document: Document) -> str:
    """An invalid trial and the checks that failed, with what the values of one do not say."""
    failed = [
        check["name"] + (f" ({check['why']})" if check.get("why") else "")
        for check in document["checks"]
        if not check["ok"]
    ]
    return f"{document['trial']}: {', '.join(failed)}"


def json_line(document: Document) -> dict[str, Any]:
    """The object that --json prints for a trial."""
    return {
        "trial": document["trial"],
        "factors": document["factors"],
        "seed": document["seed"],
        **{name: document["metrics"].get(name) for name in document["responses"]},
        "valid": document["valid"],
        "checks": document["checks"],
        "virtual_s": document["virtual_s"],
        "wall_s": document["wall_s"],
        "cpu_s": document["cpu_s"],
        "published": document["published"],
    }
