# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1's claims judged by kept means, beside the verdicts by intervals, and its numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analysis import by_means
from analysis.claims import Verdict
from analysis.kept import Kept
from analysis.table import Row
from harness.judge import studies
from studies.ubrplus_1998 import open_numbers, verdicts
from studies.ubrplus_1998.cells import cells_of
from studies.ubrplus_1998.checks import CHECKS
from studies.ubrplus_1998.study import STUDY

KEPT = Kept(studies.folder("ubrplus_1998") / "results")


def rows_of_the_paper() -> Iterator[Row]:
    """Kept cells with the paper's figures in place of ours."""
    for row in cells_of(KEPT, verdicts.TEXT, minimum="1 s"):
        yield {**row, **{name: row[f"{name}_published"] for name in ("efficiency", "fairness")}}


def test_the_papers_sentences_hold_in_its_own_table() -> None:
    theirs = by_means.of_source(STUDY, CHECKS)
    assert {found.verdict for _, found in theirs} == {Verdict.HOLDS} and len(theirs) > 100


def test_kept_means_are_judged_as_the_papers_table_is() -> None:
    as_ours = by_means.of_rows(rows_of_the_paper(), STUDY, CHECKS)
    theirs = by_means.of_source(STUDY, CHECKS)
    assert [found.evidence for _, found in as_ours] == [found.evidence for _, found in theirs]


def test_other_means_give_other_verdicts() -> None:
    """Vanilla and SACK with each other's figures: then SACK is the worst of all."""
    other = {"Vanilla": "SACK", "SACK": "Vanilla"}
    rows = [
        {**row, "flavor": other.get(row["flavor"], row["flavor"])} for row in rows_of_the_paper()
    ]
    found = {c.id: f.verdict.value for c, f in by_means.of_rows(rows, STUDY, CHECKS)}
    assert found["meo-efficiency-sack-best"] == found["geo-efficiency-sack-best"] == "does not hold"


@pytest.mark.parametrize("name", verdicts.TEXTS)
def test_each_claim_has_a_verdict_by_intervals(name: str) -> None:
    by_intervals, by_the_means = verdicts.by_intervals(KEPT), verdicts.by_the_means(KEPT)
    assert by_intervals[name].keys() == by_the_means[name].keys()
    assert {*by_intervals[name].values()} == {*verdicts.VERDICTS}


def test_older_verdicts_by_intervals_are_of_readings_with_one_bound() -> None:
    found = verdicts.by_intervals(KEPT)[verdicts.LATER]
    assert len(found) == 34
    assert "wan-efficiency-policy-negligible" not in found  # 5 % then, 0.81 % now
    assert "wan-efficiency-flavor-largest" in found


def test_one_cell_of_sack_below_the_simulation_ends_its_sentence() -> None:
    found = open_numbers.sack(KEPT)
    least = found["least"]
    assert isinstance(least, float) and 0 < least < 0.01
    assert 0 <= float(found["whole_others"] or 0) <= 6
