# SPDX-License-Identifier: GPL-2.0-only
"""The same trial gives the same record, byte for byte, wherever and after whatever it runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small import run_trials, small_trials

pytestmark = pytest.mark.lab


def from_start(table: Path) -> list[list[str]]:
    """A table's rows from the trial's start on; how long it was prepared is not part of it."""
    with table.open(newline="", encoding="ascii") as stream:
        _, *rows = csv.reader(stream)
    return [row for row in rows if int(row[0]) >= 0]


def test_another_order_in_another_lab_changes_nothing(
    finished: tuple[Path, list[dict]], tmp_path: Path
) -> None:
    """`finished` ran two labs side by side; here one lab runs the same trials backwards."""
    folder, documents = finished
    run_trials(tmp_path / "out", small_trials(tmp_path)[::-1], jobs=1)
    for document in documents:
        ours, theirs = (f / "trials" / document["trial"] for f in (tmp_path / "out", folder))
        for table in ("flows.csv", "requests.csv"):
            assert (ours / table).read_bytes() == (theirs / table).read_bytes(), document["trial"]
        for table in ("queue.csv", "cwnd.csv", "drops.csv"):
            assert from_start(ours / table) == from_start(theirs / table), document["trial"]
