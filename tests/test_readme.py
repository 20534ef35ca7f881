# SPDX-License-Identifier: GPL-2.0-only
"""The README's experiment gives the result that stands below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import readme


def without_costs(table: str) -> list[list[str]]:
    """Rows without what the machine makes of it: wall seconds."""
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][-5:] == ["virt", "s", "wall", "s", "checks"]
    return [rows[0], *([*row[:-3], *row[-2:]] for row in rows[1:])]


@pytest.mark.lab
def test_the_experiment_gives_its_result(tmp_path: Path) -> None:
    found = readme.RESULT.search(readme.README.read_text(encoding="utf-8"))
    assert found, "no result in the README"
    assert without_costs(readme.run(tmp_path)) == without_costs(found[2])
    assert "<svg" in readme.picture(tmp_path / "out")
