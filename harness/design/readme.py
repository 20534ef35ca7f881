# SPDX-License-Identifier: GPL-2.0-only
"""The section of a README that is about a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

NAME = "README.md"
FENCE = "```"


def section_on(name: str, folders: Iterable[Path]) -> str:
    """What is said of the first section that names a file; "" where none does.

    name: without a folder. folders: where a README may be.
    """
    for folder in folders:
        page = folder / NAME
        if title := section(_text(page), name):
            return f'; the section "{title}" of {_shown(page)} is about {name}'
    return ""


def section(text: str, name: str) -> str:
    """The heading of the first section that names a file; "" where none does."""
    wanted = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    title, fenced = "", False
    for line in text.splitlines():
        fenced ^= line.startswith(FENCE)
        if line.startswith("#") and not fenced:
            title = line.lstrip("#").strip()
        if title and wanted.search(line):
            return title
    return ""


def _text(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _shown(page: Path) -> Path:
    """As a person names it who is in the same folder as this command."""
    return page.relative_to(Path.cwd()) if page.is_relative_to(Path.cwd()) else page
