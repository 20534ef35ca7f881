# SPDX-License-Identifier: GPL-2.0-only
"""A table that is written without rich is the one that rich writes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from harness.cli.tables import Plain, print_table, say
from tests.small import PROJECT

LETTERS = st.text("aB1.-: [_", max_size=14) | st.text(max_size=3)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int, set[int], int]:
    columns = draw(st.integers(1, 6))
    line = st.lists(LETTERS, min_size=columns, max_size=columns)
    rows = draw(st.lists(line, min_size=1, max_size=4))
    fold = draw(st.integers(0, columns))
    left = draw(st.sets(st.integers(0, columns - 1)))
    headings = [f"h{text}" for text in draw(line)]
    return headings, rows, fold, left, draw(st.sampled_from([30, 100]))


@given(tables())
@settings(max_examples=1000)
def test_a_table(table: tuple[list[str], list[list[str]], int, set[int], int]) -> None:
    headings, rows, fold, left, width = table
    rich, plain = io.StringIO(), io.StringIO()
    print_table(headings, rows, Console(file=rich, width=width), fold=fold, left=left)
    with redirect_stdout(plain):
        print_table(headings, rows, Plain(width), fold=fold, left=left)
    assert plain.getvalue() == rich.getvalue()


@pytest.mark.parametrize("wrap", [False, True])
@given(text=st.text("ab [1]", max_size=60) | st.text(max_size=20))
def test_a_line(text: str, wrap: bool) -> None:
    rich, plain = io.StringIO(), io.StringIO()
    say(text, Console(file=rich, width=30), wrap=wrap)
    with redirect_stdout(plain):
        say(text, Plain(30), wrap=wrap)
    assert plain.getvalue() == rich.getvalue()


def test_a_run_that_no_terminal_reads_imports_no_rich() -> None:
    code = "import sys, harness.cli.commands.run; print('rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert done.stdout == "False\n"
