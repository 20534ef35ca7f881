# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1's claims judged by kept means, beside the verdicts by intervals, and its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from analysis import by_means
from analysis.cells import Cell, published_cells
from analysis.claims import Evidence, Method, Verdict, claims_of
from analysis.claims.checks import BY_VALUES
from analysis.kept import Kept
from analysis.table import Row
from harness.judge import studies
from studies.ubrplus_1998 import checks, open_numbers, pooling, verdicts
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


@pytest.mark.parametrize("name", (*verdicts.TEXTS, verdicts.LATER))
def test_each_claim_has_a_verdict_by_intervals(name: str) -> None:
    by_intervals, by_the_means = verdicts.by_intervals(KEPT), verdicts.by_the_means(KEPT)
    assert by_intervals[name].keys() == by_the_means[name].keys()
    assert {*by_intervals[name].values()} == {*verdicts.VERDICTS}


def scattered(scale: float) -> dict[str, str]:
    """Check -> verdicts on the paper's means, each cell with ten seeds around its mean.

    scale: of the scatter; the mean of each cell stays.
    """
    cells = []
    for at, cell in enumerate(published_cells(STUDY)):
        off = [scale * math.sin(1 + at * 7.3 + seed * seed) for seed in range(5)]
        shifts = [*off, *(-x for x in off)]
        metrics = {
            name: {seed: value + x for seed, x in enumerate(shifts, start=1)}
            for name, value in cell.published.items()
        }
        cells.append(Cell(levels=cell.levels, metrics=metrics, published=cell.published))
    evidence = Evidence(cells, STUDY, Method.REPLICATIONS)
    return {claim.id: claim.on(evidence).verdict.value for claim in claims_of(STUDY, CHECKS)}


def test_no_interval_decides_in_the_checks_that_compare_values() -> None:
    """With the same means and more scatter, their verdict stays. Of an order, "holds" stays, too.

    Shares move with the scatter, because it is a share of the variation itself.
    """
    little, much = scattered(1e-6), scattered(1.0)
    names = {claim.id: claim.check for claim in claims_of(STUDY, CHECKS)}
    moved = {names[claim] for claim in names if little[claim] != much[claim]}
    by_values = BY_VALUES | checks.BY_VALUES
    assert moved & by_values <= {"share_at_most", "factor_rank"}
    assert set(names.values()) - moved - {*verdicts.IN_ORDER, "overlap"} <= by_values
    assert moved >= {"difference", "separated", "effects_within", "not_always_larger"}
    assert not moved & {*verdicts.IN_ORDER}


def test_the_table_counts_verdicts_without_an_interval_apart() -> None:
    rows = {(row[0], row[1]): row[2:] for row in verdicts.claims(KEPT).rows}
    for name in verdicts.TEXTS:
        by_seeds = verdicts.by_intervals(KEPT)[name]
        for bound in ("first", "wider"):
            parts = [
                rows[name, f"{way}, {bound} bound"] for way in ("intervals", verdicts.VALUES_ONLY)
            ]
            whole = [v for c, v in by_seeds.items() if c.endswith("-wider") is (bound == "wider")]
            assert [sum(both) for both in zip(*parts, strict=True)] == [  # type: ignore[arg-type]
                len(whole),
                *map(whole.count, verdicts.VERDICTS),
            ]
            assert parts[1][0] > 0  # type: ignore[operator]


def test_a_reading_can_hold_beside_another_figure_than_ours() -> None:
    """Of the kept table: what the paper has of this claim, one seed could not give."""
    claim = "wan-efficiency-newreno-sack-above"
    rows = {(row[0], row[1]): row[2:] for row in verdicts.claims(KEPT).rows}
    found = verdicts.ways(KEPT)
    for name, minimum in verdicts.TEXTS.items():
        size = verdicts.by_kind(KEPT, "size")[name]
        assert verdicts.by_intervals(KEPT)[name][claim] == "holds"
        assert size[claim] == "does not hold"
        outside = [*size.values()].count("does not hold")
        assert rows[name, verdicts.KINDS["size"]][2] == outside
        assert found[f"outside_{verdicts.SHORT[minimum]}"] == outside


def test_the_variances_of_the_cells_are_those_of_the_kept_trials() -> None:
    """The test of one analysis, computed again as the kept evidence of its claims has it."""
    found = pooling.pooling(KEPT)
    evidence = {row["id"]: row["evidence_replications"] for row in KEPT.claims(verdicts.TEXT).rows}
    first = next(iter(pooling.analyses(KEPT)))
    assert (first.source, first.response) == ("2 ticks, WAN", "efficiency")
    assert str(first.spread) in evidence["wan-efficiency-newreno-sack-above"]
    assert first.block is not None and first.block.factors == ("seed",)
    assert found["anovas"] == 12
    assert found["unlike"] == sum(
        one.spread is not None and one.spread.p < 0.05 for one in pooling.analyses(KEPT)
    )


def test_one_cell_of_sack_below_the_simulation_ends_its_sentence() -> None:
    found = open_numbers.sack(KEPT)
    least = found["least"]
    assert isinstance(least, float) and 0 < least < 0.01
    assert 0 <= float(found["whole_others"] or 0) <= 6
