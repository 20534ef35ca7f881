# SPDX-License-Identifier: GPL-2.0-only
"""In how many seeds a change of an undecided reading has the sign of its mean."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from analysis import kept_trials
from analysis.kept import Kept
from harness.judge import studies
from studies.web_2003 import signs
from studies.web_2003.abstract import AS_IN_NS_2, WHOLE
from tests.studies.test_web_2003_steps import made

KEPT = Kept(studies.folder("web_2003") / "results")
SMALLER = "ecn-drops-cause-retransmissions"
"""The share of exchanges with a retransmission is smaller with ECN than without."""


def test_a_decided_reading_has_no_line(tmp_path: Path) -> None:
    kept = made(tmp_path, [0.1, 0.11, 0.12])
    assert not [one for one in signs.changes(kept) if one.claim == SMALLER]


def test_the_seeds_with_the_sign_of_the_mean_are_counted(tmp_path: Path) -> None:
    kept = made(tmp_path, [0.9, 0.5, 0.6, 1.02])
    found = [one for one in signs.changes(kept) if one.claim == SMALLER]
    assert [(one.red, one.alike, one.seeds) for one in found] == [(signs.LINUX, 3, 4)] * 4
    assert not any(one.excludes_0 for one in found)


def test_all_seeds_can_agree_and_the_reading_be_undecided(tmp_path: Path) -> None:
    kept = made(tmp_path, [0.99, 0.5, 0.98])
    found = [one for one in signs.changes(kept) if one.claim == SMALLER]
    assert {(one.alike, one.seeds) for one in found} == {(3, 3)}
    numbers = signs.numbers(kept)
    assert numbers["agreed"] == numbers["within"] == numbers["changes"]
    assert numbers["by_chance"] == pytest.approx(numbers["changes"] / 4)


def test_the_kept_counts_are_those_of_the_kept_trials() -> None:
    """Drop tail, SACK in place of Reno, from the lines themselves."""
    table = signs.sheet(KEPT)
    for metric, word in (("median_ms", "median"), ("p90_ms", "90th percentile")):
        for load in ("80", "105"):
            both = (
                kept_trials.by_seed(
                    KEPT.folder / WHOLE, metric, load=load, queue="drop-tail", sender=sender
                )
                for sender in ("SACK", "Reno")
            )
            sack, reno = both
            logs = [math.log(sack[seed] / reno[seed]) for seed in sack]
            alike = sum(log * sum(logs) > 0 for log in logs)
            rows = [
                row
                for row in table.rows
                if row[1:3] == ["No benefit to using SACK", word]
                and row[4] == f"{load} % drop-tail"
            ]
            assert [(row[3], row[-1]) for row in rows] == [
                (red, f"{alike} of {len(logs)}") for red in undecided(word)
            ]


def undecided(word: str) -> list[str]:
    """Whose Adaptive RED the kept reading with this word is undecided with, as the table says."""
    ids = [
        row["id"]
        for row in KEPT.claims(WHOLE).rows
        if row["sentence"] == "No benefit to using SACK over Reno"
        and word in row["reading"]
        and row["verdict_seeds"] == "undecided"
    ]
    if len(ids) > 1:
        return [signs.BOTH]
    return [signs.NS_2 if one.endswith(AS_IN_NS_2) else signs.LINUX for one in ids]
