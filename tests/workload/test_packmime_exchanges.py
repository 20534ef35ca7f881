# SPDX-License-Identifier: GPL-2.0-only
"""A trace and what both ends saw, row by row."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from workload.packmime import exchanges
from workload.packmime.trace import Exchange
from workload.packmime.web import Result, ServerResult

# Of two hosts a side: a connection with two exchanges, one that is not finished, one up.
TRACE = [
    Exchange("down", 0, True, 0, 5_000_000, 100, 0, 2000),
    Exchange("down", 0, False, 7, 5_000_000, 100, 0, 300),
    Exchange("down", 1, True, 9, 8_000_000, 100, 0, 400),
    Exchange("down", 2, True, 9, 8_000_000, 100, 0, 400),
    Exchange("up", 0, True, 9, 1_000_000, 100, 0, 500),
]
RESULTS = [
    Result("down", 0, 0, 10, 5_000_310, 5_000_310, 9_000_000, 9_500_000, 2000, "done"),
    Result("down", 0, 1, 9_600_000, None, 9_600_000, 9_900_000, 9_950_000, 300, "done"),
    Result("down", 1, 0, 20, 8_000_400, 8_000_400, 9_000_000, None, 77, "receiving"),
    Result("down", 2, 0, None, None, None, None, None, 0, "not_begun"),
    Result("up", 0, 0, 30, 1_000_230, 1_000_230, 2_000_000, 2_000_000, 501, "done"),
]
SERVED = {
    ("down", 0, 10_000, 8000): ServerResult("10.1.0.2", 10_000, 8000, "closed", 2, 2300, 3, 1, 4, 9)
}


def test_every_row_of_the_trace_has_one_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.csv"
    totals = exchanges.write(path, TRACE, reversed(RESULTS), SERVED, 2)
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["state"] for row in rows] == ["done", "done", "receiving", "not_begun", "done"]
    assert [row["exchange"] for row in rows] == ["0", "1", "0", "0", "0"]
    assert [row["marks"] for row in rows] == ["4", "4", "", "", ""]
    assert rows[2]["last_byte_ns"] == "" and rows[2]["received_bytes"] == "77"
    assert totals.states == {"done": 3, "receiving": 1, "not_begun": 1}
    assert totals.unsent == 1
    assert totals.wrong_bytes == {0: 1}
    assert totals.received_bytes == {0: 2300, 1: 77}
    assert totals.scheduled_bytes == {0: 2700, 1: 400}
    assert (totals.asked, totals.done) == ({0: 3, 1: 1}, {0: 2, 1: 0})
    assert (totals.retransmits, totals.timeouts) == ({0: 3}, {0: 1})
    assert totals.handshake_excess_ns == 200
    assert totals.last_byte_ns == 9_950_000


def test_an_exchange_without_a_result_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        exchanges.write(tmp_path / "exchanges.csv", TRACE, RESULTS[:-1], SERVED, 2)
