# SPDX-License-Identifier: GPL-2.0-only
"""docs/architecture.md draws the imports between the rooms: all of them, no other, no circle.

`python -m tests.test_architecture_page` prints the arrows as they are to be drawn.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.small import PROJECT

PACKAGES = ("plan", "harness", "analysis", "topology", "workload", "studies", "tcp-configs")
ARROW = re.compile(r"^    ([\w-]+) --> (.+)$", re.MULTILINE)
SHARED = "shared"  # modules directly in harness/
# What every room may import, and whose arrows are not drawn.
FLOOR = {"plan", SHARED}


def room(module: str) -> str:
    """The room of a dotted name: of harness its second word, else its first."""
    first, *rest = module.split(".")
    if first != "harness":
        return first
    folder = bool(rest) and (PROJECT / "harness" / rest[0]).is_dir()
    return rest[0] if folder else SHARED


def imported(path: Path) -> Iterator[str]:
    """Dotted names of what a file imports; of `from a import b` that of b, where b is a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def arrows() -> set[tuple[str, str]]:
    """Who imports whom."""
    found = set()
    for package in PACKAGES:
        for path in (PROJECT / package).rglob("*.py"):
            if path == PROJECT / "harness" / "__main__.py":
                continue  # the way in
            here = room(".".join(path.relative_to(PROJECT).with_suffix("").parts))
            there = {room(name) for name in imported(path) if name.partition(".")[0] in PACKAGES}
            found |= {(here, other) for other in there - {here, *FLOOR}}
    return found


def drawn() -> set[tuple[str, str]]:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {(a, b) for a, several in ARROW.findall(page) for b in several.split(" & ")}


def test_the_page_draws_the_imports() -> None:
    assert {f"{a} --> {b}" for a, b in drawn()} == {f"{a} --> {b}" for a, b in arrows()}


def test_there_is_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for here, there in arrows():
        graph.setdefault(here, set()).add(there)
    TopologicalSorter(graph).prepare()


def drawing() -> str:
    """All arrows, a line a room."""
    found = arrows()
    return "\n".join(
        f"    {here} --> {' & '.join(sorted(b for a, b in found if a == here))}"
        for here in sorted({a for a, _ in found})
    )


if __name__ == "__main__":
    print(drawing())
