# SPDX-License-Identifier: GPL-2.0-only
"""A lab of paper for the tests of campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.campaign import costs
from harness.labs import LABS
from harness.records import record
from tests.paper import PaperLab, finish


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[PaperLab]:
    """Is in the place of a lab, and remembers nothing of another test."""

    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}
        tried: list[str] = []
        booted: list[Path] = []

    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(costs, "file", lambda: tmp_path / "costs.json")
    monkeypatch.setattr(record, "finish", finish)
    return Fresh
