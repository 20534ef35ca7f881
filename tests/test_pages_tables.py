# SPDX-License-Identifier: GPL-2.0-only
"""A table of a page is a table: nobody has wrapped its lines as if they were prose."""

from __future__ import annotations

import re

import pytest

from tests.small import PROJECT
from tests.test_links import BLOCK, pages

RULE = re.compile(r"\| *:?-{3,}:? *\|")
WHOLE = re.compile(r"\s*\|(?: *:?-{3,}:? *\|)+")


def broken(text: str) -> list[str]:
    """The lines that have the rule below a table's head, and something else."""
    lines = BLOCK.sub("", text).splitlines()
    return [line for line in lines if RULE.search(line) and not WHOLE.fullmatch(line)]


@pytest.mark.parametrize("page", pages())
def test_a_table_is_not_wrapped(page: str) -> None:
    assert broken((PROJECT / page).read_text("utf-8")) == []


def test_a_wrapped_table_is_found() -> None:
    table = "| what | MiB |\n| --- | ---: |\n| a lab | 1024 |\n"
    assert broken(table) == []
    assert broken(table.replace("\n", " ")) != []
