# SPDX-License-Identifier: GPL-2.0-only
"""What the queues of both directions dropped."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.kept import Kept
from analysis.report.model import MISSING
from studies.web_2003 import ways
from studies.web_2003.ns2.tables import PLAN
from studies.web_2003.ns2.witness import LONG, SHORT, WITNESS

PLACE = ("load", "sender", "queue", "seed")
KERNEL = [
    ("80", "SACK", "drop-tail", 1, 0.01, 0.03),
    ("80", "SACK", "drop-tail", 2, 0.02, 0.01),
    ("80", "SACK", "drop-tail", 3, 0.9, ""),
    ("80", "SACK", "ARED", 1, 0.05, 0.04),
]
NS_2 = [
    ("80", "SACK", "drop-tail", 1, PLAN, 0.02, 0.03),
    ("80", "SACK", "drop-tail", 2, PLAN, 0.02, 0.03),
    ("80", "SACK", "drop-tail", 2, "another", 0.7, 0.7),
    ("80", "SACK", "ARED as in ns-2", 1, PLAN, 0.06, 0.06),
]


def made(folder: Path, ns_2: Sequence[Sequence[object]]) -> Kept:
    for campaign, lines, runs in ((SHORT, KERNEL, ns_2), (LONG, KERNEL[2:3], NS_2[:1])):
        target = folder / campaign
        target.mkdir()
        for name, more, rows in (("trials", (), lines), (WITNESS.name, ("variant",), runs)):
            with (target / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([(*PLACE, *more, *ways.WAYS), *rows])
    return Kept(folder)


def test_only_trials_with_both_directions_count(tmp_path: Path) -> None:
    """ns-2's own RED is another queue than Linux's, so it is not beside it."""
    assert ways.sheet(made(tmp_path, NS_2)).rows == [
        ["10,000", "80 %", "SACK", "drop-tail", 2, "1.5", "2.0", "2.0", "3.0"],
        ["10,000", "80 %", "SACK", "ARED", 1, "5.0", "4.0", MISSING, MISSING],
    ]


def test_ns_2_has_no_mean_over_other_seeds_than_the_kernel(tmp_path: Path) -> None:
    rows = ways.sheet(made(tmp_path, NS_2[:1])).rows
    assert rows[0][-2:] == [MISSING, MISSING]


def test_the_numbers_are_differences_in_percentage_points(tmp_path: Path) -> None:
    found = ways.numbers(made(tmp_path, NS_2))
    assert (found["trials"], found["more_up"], found["pairs"]) == (3, 1, 2)
    names = ("lowest", "highest", "mean", "down", "up")
    assert [found[name] for name in names] == pytest.approx([-1, 2, 0, 0.5, 1])
