# SPDX-License-Identifier: GPL-2.0-only
"""Contrasts against scipy's tests and values worked by hand; Holm's rule against statsmodels."""

import math

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.contrasts import Form, contrast, differences, of_draws
from analysis.draws import one_draw
from analysis.families import holm

FIRST = {1: 0.71, 2: 0.84, 3: 0.65, 4: 0.90}
SECOND = {1: 0.70, 2: 0.80, 3: 0.66, 4: 0.85}


def test_a_difference_of_two_cells_is_the_paired_t_test() -> None:
    found = contrast(differences([FIRST], [SECOND]))
    test = stats.ttest_rel([*FIRST.values()], [*SECOND.values()])
    interval = test.confidence_interval(0.95)
    assert found.form is Form.PAIRED and found.made == "paired by seed"
    assert found.p_against(0) == pytest.approx(test.pvalue)
    assert found.half_width == pytest.approx((interval.high - interval.low) / 2)
    assert found.difference == pytest.approx(0.0225)
    assert found.draws == pytest.approx((0.01, 0.04, -0.01, 0.05))


def test_what_the_seeds_share_is_not_in_the_interval() -> None:
    """Both cells move together by far more than they differ."""
    hard = {seed: -0.3 * seed for seed in FIRST}
    moved = [{seed: value + hard[seed] for seed, value in cell.items()} for cell in (FIRST, SECOND)]
    assert contrast(differences(moved[:1], moved[1:])).half_width == pytest.approx(
        contrast(differences([FIRST], [SECOND])).half_width
    )
    apart = contrast(differences(moved[:1], [{s + 10: v for s, v in moved[1].items()}]))
    assert (apart.half_width or 0) > 10 * (contrast(differences([FIRST], [SECOND])).half_width or 0)


def test_the_mean_of_several_cells_is_taken_in_each_seed() -> None:
    # Seed 1: (1 + 5) / 2 - 2 = 1; seed 2: (3 + 7) / 2 - 2 = 3. s = sqrt(2), s / sqrt(2) = 1.
    found = contrast(differences([{1: 1.0, 2: 3.0}, {1: 5.0, 2: 7.0}], [{1: 2.0, 2: 2.0}]))
    assert found.difference == 2
    assert found.half_width == pytest.approx(12.706205)  # t[0.975; 1]
    assert str(found) == "+2.0000 ± 12.7062"


def test_seeds_that_do_not_match_make_welchs_interval() -> None:
    other = {seed + 10: value for seed, value in SECOND.items()} | {15: 0.5}
    found = contrast(differences([FIRST], [other]))
    test = stats.ttest_ind([*FIRST.values()], [*other.values()], equal_var=False)
    interval = test.confidence_interval(0.95)
    assert found.form is Form.WELCH and "the seeds do not match" in found.made
    assert found.p_against(0) == pytest.approx(test.pvalue)
    assert found.freedom == pytest.approx(test.df)
    assert found.half_width == pytest.approx((interval.high - interval.low) / 2)
    assert found.draws == ()


def test_a_seed_that_a_cell_lacks_is_told() -> None:
    found = contrast(differences([FIRST], [{s: SECOND[s] for s in (1, 2, 4)}]))
    assert found.draws == pytest.approx((0.01, 0.04, 0.05))
    assert found.made == "paired by seed (3 of 4)"


def test_one_seed_has_no_interval() -> None:
    found = contrast(differences([{1: 4.0}], [{1: 1.0}]))
    assert (found.difference, found.half_width, found.p_against(0)) == (3, None, None)
    assert found.form is Form.NONE and found.draws == (3.0,)
    assert of_draws([2.0], 1).half_width is None
    with pytest.raises(ValueError, match="values in each"):
        contrast(differences([{1: 4.0}], [{}]))
    with pytest.raises(ValueError, match="no seed"):
        of_draws([], 3)


def test_rounding_is_no_difference() -> None:
    """0.3 - 0.1 - 0.2 is -2.8e-17 in each seed: without a floor that would be surely below 0."""
    found = contrast([(1.0, {1: 0.3, 2: 0.3}), (-1.0, {1: 0.1, 2: 0.1}), (-1.0, {1: 0.2, 2: 0.2})])
    assert found.difference != 0
    assert (found.p_against(0) or 0) > 0.9


def test_a_figure_of_each_seed_is_like_a_contrast() -> None:
    found = of_draws([1.0, 2.0, 3.0], 4)
    assert found.half_width == pytest.approx(4.302653 / math.sqrt(3))  # t[0.975; 2], s = 1
    assert found.made == "paired by seed (3 of 4)"


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03, 0.005], [0.5], [0.9, 0.8, 0.02], []])
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="holm")[1].tolist() if p_values else []
    assert holm(p_values) == pytest.approx(expected)


def test_one_draw_scatters_more_than_a_mean() -> None:
    # n = 3, s = 1, t[0.975; 2] = 4.302653; sqrt(1 + 1/3) = 1.154701.
    draw = one_draw([1.0, 2.0, 3.0])
    assert draw is not None
    assert (draw.low, draw.high) == pytest.approx((2 - 4.968276, 2 + 4.968276), abs=1e-5)
    assert draw.p_of(2 + 4.968276) == pytest.approx(0.05, abs=1e-6)
    assert draw.p_of(2 + 4.97, known_to=0.01) > 0.05 > draw.p_of(2 + 4.97)
    assert one_draw([1.0]) is None


def test_draws_that_never_change_allow_what_they_are_alone() -> None:
    draw = one_draw([0.5, 0.5, 0.5])
    assert draw is not None and draw.p_of(0.5) == 1 and draw.p_of(0.501) < 1e-6
