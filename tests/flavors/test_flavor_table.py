# SPDX-License-Identifier: GPL-2.0-only
"""The table of TCP parameters, and what is made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from harness.flavors import generated
from plan.flavor import (
    PARAMETERS,
    ROUTE,
    Choice,
    Milliseconds,
    Number,
    Parameter,
    Segments,
    Switch,
)  # fmt: skip

WORD = re.compile(r"[a-z][a-z0-9_]*")


def test_the_modules_header_is_that_of_the_table():
    """If not: python3 -m harness.flavors.generated."""
    assert generated.HEADER.read_text(encoding="utf-8") == generated.header()


def test_the_page_is_that_of_the_table():
    """If not: python3 -m harness.flavors.generated."""
    text = generated.PAGE.read_text(encoding="utf-8")
    assert [match[2] for match in generated.PLACE.finditer(text)] == ["parameters", "route"]
    assert text == generated.page(text)


def test_the_header_of_a_table():
    turns = Choice({"left": "west", "right": "east"})
    made = {
        "gain": Parameter(kind=Number(1, 9), default=3, text="How `much`."),
        "wait_ms": Parameter(kind=Milliseconds(0, 50), default=10, text="How long."),
        "turn": Parameter(kind=turns, default="right", text="?"),
    }  # fmt: skip
    text = generated.header(made)
    assert " * gain: 1 to 9 [3]\n *\tHow much.\n" in text
    assert " * turn: 0 or 1 [1]\n *\t?\n *\t0 left: west\n *\t1 right: east\n */\n" in text
    assert "enum cellbed_turn {\n\tCELLBED_TURN_LEFT,\n\tCELLBED_TURN_RIGHT,\n};\n" in text
    assert "struct cellbed_params {\n\tint gain;\n\tint wait_ms;\n\tint turn;\n};\n" in text
    *_, first, second, third = [line for line in text.splitlines() if line.startswith("\tX(")]
    assert first.expandtabs(8) == "        X(gain, 1, 3, 9, proc_dointvec_minmax)".ljust(72) + "\\"
    assert second.startswith("\tX(wait_ms, 0, 10, 50, cellbed_ms)\t")
    assert third == "\tX(turn, 0, 1, 1, proc_dointvec_minmax)"


def test_no_line_of_the_header_is_too_long():
    assert max(len(line.expandtabs(8)) for line in generated.header().splitlines()) <= 80


@pytest.mark.parametrize("table", [PARAMETERS, ROUTE])
def test_every_entry_can_be_shown(table: Mapping[str, Parameter]):
    for name, entry in table.items():
        assert WORD.fullmatch(name), name
        assert entry.text[-1] in ".?" and "|" not in entry.text, name
        if isinstance(entry.kind, Choice):
            assert all(map(WORD.fullmatch, entry.kind.words)), name


def test_every_default_is_allowed():
    for name, parameter in PARAMETERS.items():
        least, greatest = parameter.kind.least, parameter.kind.greatest
        assert least <= parameter.kernels_default <= greatest, name


@pytest.mark.parametrize(("kind", "good", "kernel", "wrong", "allowed"), [
    (Switch(), True, 1, 1, "x = 1: must be true or false"),
    (Number(2, 5), 5, 5, 6, "x = 6: allowed are 2 to 5"),
    (Number(2, 5), 2, 2, True, "x = true: must be a whole number"),
    (Number(2, 5), 2, 2, "2", 'x = "2": must be a whole number'),
    (Choice({"a": "", "b": ""}), "b", 1, 1, "x = 1: it must be one of a, b"),
    (Segments(), "bdp", "bdp", 1, 'x = 1: must be "bdp" or a whole number of at least 2'),
    (Segments(), 2, 2, True, 'x = True: must be "bdp" or a whole number of at least 2'),
])  # fmt: skip
def test_what_a_value_may_be(kind, good: object, kernel: object, wrong: object, allowed: str):
    assert kind.read(good, "x") == kernel
    with pytest.raises(ValueError, match="^x = ") as caught:
        kind.read(wrong, "x")
    assert str(caught.value) == allowed
