# SPDX-License-Identifier: GPL-2.0-only
"""Which files of a kernel's source a lab kernel is made of: those that its recipe's parts name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from harness.kernels.recipe import LAB, Recipe

# What a build in the tree itself leaves, where Git does not tell.
MADE = re.compile(
    r"(?:.*/)?(?:\.[^/]*\.cmd|\.tmp_[^/]*|modules\.order|[^/]+\.(?:o|a|ko|mod|mod\.c|cmd|so|dtb))$"
    r"|include/(?:generated|config)/|arch/[^/]+/include/generated/"
)


def wanted(path: str, recipe: Recipe = LAB) -> bool:
    """Is a file, by its path from the top of the source, part of the recipe's kernel?"""
    return _wanted(recipe).match(path) is not None


@cache
def _wanted(recipe: Recipe) -> re.Pattern[str]:
    """What the lines of the parts match, which lab/kernel/fetch says to tar."""
    return matching(lines(recipe.root / recipe.parts))


def matching(found: Iterable[str]) -> re.Pattern[str]:
    """What some lines of parts match."""
    return re.compile(rf"(?:{'|'.join(map(expression, found))})(?:/|$)")


def once(found: Iterable[str]) -> list[str]:
    """The lines without those that are within an earlier one: tar misses what it has had."""
    kept: list[str] = []
    for line in found:
        if not kept or not matching(kept).match(line):
            kept.append(line)
    return kept


def lines(path: Path) -> list[str]:
    """The parts that a file names, or that a note of them has."""
    return named(path.read_text())


def named(text: str) -> list[str]:
    """The parts that a text names."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def expression(line: str) -> str:
    """A line of the parts as a regular expression."""
    name = line.removeprefix("**/")
    escaped = re.escape(name).replace(r"\*", "[^/]*").replace(r"\[", "[").replace(r"\]", "]")
    return escaped if name == line else f"(?:.*/)?{escaped}"
