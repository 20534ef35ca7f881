# SPDX-License-Identifier: GPL-2.0-only
"""Cells, variants and distances against values worked by hand."""

from pathlib import Path

import pytest

from analysis.cells import cells_of, distances, published_cells, variant_factors
from analysis.records import CampaignRecords, read_campaign
from analysis.report.pages import pages_of
from analysis.report.results import results_of
from analysis.study import NONE
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic


def test_every_cell_has_mean_interval_published_and_difference(campaign: CampaignRecords) -> None:
    cells = cells_of(campaign.trials)
    assert len(cells) == 72
    first = cells[0]
    assert first.name == "WAN Vanilla EPD 0.5"
    assert first.published["efficiency"] == 0.4245
    found = first.estimate("efficiency")
    assert found is not None and found.n == 3
    mean = sum(first.values("efficiency")) / 3
    assert first.difference("efficiency") == pytest.approx(mean - 0.4245)
    estimates = [(cell.estimate("efficiency"), cell.published["efficiency"]) for cell in cells]
    inside = [e.low <= p <= e.high for e, p in estimates if e and e.low and e.high]
    assert inside.count(True) > 60  # a 95 % interval around the true value


def test_distance_of_a_constant_shift(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], noise=0, shift=0.02, extra_factors=[{"start": "spread"}]
    )
    found = distances(cells_of(read_campaign(folder).trials), STUDY)
    assert [one.group for one in found] == ["WAN", "MEO", "GEO"] * 2
    for one in found[:3]:
        assert one.cells == 24
        assert one.mean_absolute_difference == pytest.approx(0.02)
        assert one.mean_difference == pytest.approx(0.02)
        assert one.largest_difference == pytest.approx(0.02)
        assert one.rank_correlation == pytest.approx(1)


def test_reversed_order_has_rank_correlation_minus_one(tmp_path: Path) -> None:
    cells = {cell: v for cell, v in synthetic.paper_cells().items() if cell[0] == "MEO"}
    reversed_cells = {cell: (1 - a, 1 - b) for cell, (a, b) in cells.items()}
    folder = synthetic.write_campaign(tmp_path, seeds=[1], noise=0, cells=reversed_cells)
    found = distances(cells_of(read_campaign(folder).trials), STUDY)
    assert found[0].rank_correlation == pytest.approx(-1)


def test_cells_that_the_source_lacks_have_no_difference(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], cells={("WAN", "Cubic", "EPD", 0.5): (0.9, 0.9)}
    )
    [cell] = cells_of(read_campaign(folder).trials)
    assert cell.published == {}
    assert cell.difference("efficiency") is None
    assert distances([cell], STUDY) == ()


def test_a_missing_metric_is_no_zero(tmp_path: Path) -> None:
    cell = ("WAN", "SACK", "EPD", 0.5)
    synthetic.write_campaign(tmp_path, seeds=[1], noise=0, cells={cell: (0.8, 0.7)})
    synthetic.write_trial(tmp_path, cell, {}, 2, [0.9, None])
    [found] = cells_of(read_campaign(tmp_path).trials)
    assert found.values("efficiency") == (0.8, 0.9)
    assert found.values("fairness") == (0.7,)
    assert found.estimate("goodput") is None


def test_variants_are_kept_apart_and_the_first_named_is_the_reports(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], extra_factors=[{"idle": "keep"}, {"idle": "restart", "ignored": 1}]
    )
    campaign = read_campaign(folder)
    assert variant_factors(campaign, STUDY) == ("idle",)
    results = results_of(campaign, STUDY, pages_of(STUDY).checks)
    assert {name: len(cells) for name, cells in results.variants.items()} == {
        "idle=keep": 72,
        "idle=restart": 72,
    }
    assert {cell.levels["idle"] for cell in results.cells} == {"keep"}


def test_without_a_study_all_factors_name_the_cell(tmp_path: Path) -> None:
    campaign = read_campaign(
        synthetic.write_campaign(tmp_path, seeds=[1], extra_factors=[{"idle": "a"}, {"idle": "b"}])
    )
    results = results_of(campaign, NONE, {})
    assert (len(results.cells), results.factors[-1]) == (144, "idle")
    assert results.anova("", "efficiency") is None


def test_published_table_in_the_same_form() -> None:
    cells = published_cells(STUDY)
    assert len(cells) == 72
    assert all(cell.difference("fairness") == 0 for cell in cells)
