# SPDX-License-Identifier: GPL-2.0-only
"""Means, intervals, differences and rank correlations against values worked by hand."""

from pathlib import Path

import pytest

from analysis.comparison import (
    compare,
    estimate,
    published_cells,
    summarise,
    variant_factors,
    variants,
)
from analysis.published import paper_cells
from analysis.records import Campaign, read_campaign
from tests.analysis import synthetic


def test_estimate_is_the_t_interval() -> None:
    result = estimate([1.0, 2.0, 3.0])
    assert result.mean == 2
    assert result.half_width == pytest.approx(4.302653 / 3**0.5)  # t[0.975; 2], s = 1
    assert result.low == pytest.approx(2 - 4.302653 / 3**0.5)


def test_estimate_of_one_value_has_no_interval() -> None:
    assert estimate([1.0]).low is None
    assert estimate([1.0]).half_width is None
    with pytest.raises(ValueError, match="no value"):
        estimate([])


def test_every_cell_has_mean_interval_paper_and_difference(campaign: Campaign) -> None:
    cells = compare(campaign.trials, "efficiency")
    assert len(cells) == 72
    first = cells[0]
    assert (first.network, first.flavor, first.policy, first.buffer) == (
        "WAN", "Vanilla", "EPD", "0.5",
    )  # fmt: skip
    assert first.paper == 0.4245
    assert first.estimate.n == 3
    assert first.difference == pytest.approx(sum(first.values) / 3 - 0.4245)
    inside = [cell.paper_within_interval for cell in cells]
    assert inside.count(True) > 60  # a 95 % interval around the true value


def test_summary_of_a_constant_shift(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], noise=0, shift=0.02, extra_factors=[{"start": "spread"}]
    )
    trials = read_campaign(folder).trials
    summaries = summarise(compare(trials, "efficiency"))
    assert [summary.network for summary in summaries] == ["WAN", "MEO", "GEO"]
    for summary in summaries:
        assert summary.cells == 24
        assert summary.mean_absolute_difference == pytest.approx(0.02)
        assert summary.mean_difference == pytest.approx(0.02)
        assert summary.largest_difference == pytest.approx(0.02)
        assert summary.rank_correlation == pytest.approx(1)


def test_reversed_order_has_rank_correlation_minus_one(tmp_path: Path) -> None:
    cells = {cell: values for cell, values in paper_cells().items() if cell[0] == "MEO"}
    reversed_cells = {cell: (1 - a, 1 - b) for cell, (a, b) in cells.items()}
    folder = synthetic.write_campaign(tmp_path, seeds=[1], noise=0, cells=reversed_cells)
    [summary] = summarise(compare(read_campaign(folder).trials, "efficiency"))
    assert summary.rank_correlation == pytest.approx(-1)


def test_cells_the_paper_lacks_have_no_difference(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], cells={("WAN", "Cubic", "EPD", 0.5): (0.9, 0.9)}
    )
    cells = compare(read_campaign(folder).trials, "efficiency")
    assert cells[0].paper is None
    assert cells[0].difference is None
    assert summarise(cells) == ()


def test_a_missing_metric_is_no_zero(tmp_path: Path) -> None:
    cell = ("WAN", "SACK", "EPD", 0.5)
    synthetic.write_campaign(tmp_path, seeds=[1], noise=0, cells={cell: (0.8, 0.7)})
    synthetic.write_trial(tmp_path, cell, {}, 2, [0.9, None])
    trials = read_campaign(tmp_path).trials
    assert compare(trials, "efficiency")[0].values == (0.8, 0.9)
    assert compare(trials, "fairness")[0].values == (0.7,)
    assert compare(trials, "goodput") == ()


def test_variants_are_kept_apart(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(
        tmp_path, seeds=[1], extra_factors=[{"idle": "keep"}, {"idle": "restart", "ignored": 1}]
    )
    campaign = read_campaign(folder)
    assert variant_factors(campaign) == ("idle",)
    groups = variants(campaign)
    assert {name: len(trials) for name, trials in groups.items()} == {
        "idle=keep": 72,
        "idle=restart": 72,
    }


def test_published_table_in_the_same_form() -> None:
    cells = published_cells(paper_cells(), "fairness")
    assert len(cells) == 72
    assert all(cell.difference == 0 for cell in cells)
