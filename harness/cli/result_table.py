# SPDX-License-Identifier: GPL-2.0-only
"""The finished trials as a table, and as JSON.

What all trials have in common stands above it, what failed below it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.metrics import ABOVE_ONE
from analysis.replicates import sentence
from harness.cli.tables import Plain, print_table, say
from plan.plan import level_name

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]

MOST_COLUMNS, FEW_COLUMNS = 8, 2
COSTS = ("virt s", "wall s", "checks")


def print_results(documents: Sequence[Document], console: Console | Plain) -> None:
    """Print one row a trial: levels, measured and published figures, seconds, checks."""
    all_levels = [levels(document) for document in documents]
    common = {n: x for n, x in all_levels[0].items() if {found[n] for found in all_levels} == {x}}
    names = [name for name in all_levels[0] if name not in common]
    common.pop("seed", None)
    if common:
        say(", ".join(map(" ".join, common.items())), console)
    cells = [[found[name] for name in names] for found in all_levels]
    parts = ("metrics", "published") if any(d["published"] for d in documents) else ("metrics",)
    responses, more = columns(documents[0]["responses"])
    rows = [
        [*of, *figures(document, responses, parts)]
        for of, document in zip(cells, documents, strict=True)
    ]
    headings = [text for short in responses.values() for text in (short, "paper")[: len(parts)]]
    left = {*range(len(names)), len(rows[0]) - 1}
    print_table([*names, *headings, *COSTS], rows, console, fold=len(names), left=left)
    for document in documents:
        failed = [check["name"] for check in document["checks"] if not check["ok"]]
        if failed:
            text = f"{document['trial']}: invalid: {', '.join(failed)}"
            say(text, console)
    if more:
        told = f"The report shows {more} more figures of links and routes."
        say(told, console)
    if any((document["metrics"].get("efficiency") or 0) > 1 for document in documents):
        say(ABOVE_ONE, console, wrap=True)
    if said := replicates_that_are_none(documents):
        say(said, console)


def columns(responses: Mapping[str, str]) -> tuple[Mapping[str, str], int]:
    """The responses for which the table has room, and how many others there are.

    Those of links and routes come last, and many of them have no room.
    """
    if len(responses) <= MOST_COLUMNS:
        return responses, 0
    kept = dict(itertools.islice(responses.items(), FEW_COLUMNS))
    return kept, len(responses) - FEW_COLUMNS


def replicates_that_are_none(documents: Sequence[Document]) -> str:
    """The sentence on seeds that changed nothing; "" where there are none."""
    cells: dict[str, list[Document]] = {}
    for document in documents:
        cells.setdefault(str(document["factors"]), []).append(document["metrics"])
    same = [of for of in cells.values() if len(of) > 1 and all(one == of[0] for one in of)]
    return sentence(len(same), len(cells)) if same else ""


def levels(document: Document) -> dict[str, str]:
    """A trial's levels, and its seed."""
    of_cell = {factor: level_name(level) for factor, level in document["factors"].items()}
    return {**of_cell, "seed": str(document["seed"])}


def figures(document: Document, responses: Iterable[str], parts: Sequence[str]) -> list[str]:
    """A trial's figures as text: each response in the parts of its document, then COSTS."""
    return [
        *(figure(document[part].get(name)) for name in responses for part in parts),
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
