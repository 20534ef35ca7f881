# SPDX-License-Identifier: GPL-2.0-only
"""The tutorial's steps work in their order, and print what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import tutorial

WALL = re.compile(r"\d+( +\d+ ok)$", re.MULTILINE)


def without_costs(text: str | None) -> str | None:
    """Without what the machine makes of it: wall seconds, and the widths that they need."""
    return text and re.sub(r" +", " ", WALL.sub(r"*\1", text))


def test_only_the_wall_seconds_may_differ() -> None:
    assert without_costs("0.7  16   9  9 ok") == without_costs("0.7  16  13  9 ok")
    assert without_costs("0.7  16   9  9 ok") != without_costs("0.7  17   9  9 ok")


@pytest.mark.lab
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    steps = list(tutorial.followed(tutorial.PAGE.read_text(encoding="utf-8"), tmp_path))
    shown = [step for step in steps if step.shown]
    assert len(steps) > len(shown) > 0
    assert [without_costs(step.shown) for step in shown] == [
        without_costs(step.printed) for step in shown
    ]
    assert (tmp_path / "cellbed" / "efficiency.png").stat().st_size > 0
