# SPDX-License-Identifier: GPL-2.0-only
"""The page of the board does what it says: one trial is run again, and compared with the kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.guides import NOT_COPIED, follow
from tests.small import PROJECT


@pytest.mark.lab
def test_one_trial_can_be_repeated_as_the_page_says(tmp_path: Path) -> None:
    copy, board = tmp_path / "cellbed", Path("studies", "cc_board")
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    shutil.copytree(PROJECT / board / "results", copy / board / "results")
    follow(PROJECT / board / "README.md", copy, "One trial")
    report = (copy / "results" / "one" / "report" / "report.md").read_text(encoding="utf-8")
    assert "| one flow | 6.3 | use of the link ≥ 0.9 | 0.991 |" in report
    [record] = (copy / "results" / "verify-cc_board" / "cc-board" / "trials").iterdir()
    assert record.name.startswith("oneflow-Reno-s1-")
