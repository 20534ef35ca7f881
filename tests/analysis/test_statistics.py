# SPDX-License-Identifier: GPL-2.0-only
"""Estimates and distribution functions against values worked by hand."""

import math

import pytest

from analysis.statistics import distribution, estimate, quantiles, rank_correlation


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


def test_rank_correlation_needs_three_and_variation() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_a_distribution_ends_below_1_where_values_were_not_reached() -> None:
    values, shares = distribution([3.0, math.inf, 1.0, 2.0])
    assert values.tolist() == [1, 2, 3]
    assert shares.tolist() == [0.25, 0.5, 0.75]


def test_quantiles_are_of_each_seed() -> None:
    median, most = quantiles([[1.0, 2.0, 3.0], [3.0, 4.0, math.inf]], [0.5, 0.99])
    assert median is not None and median.mean == 3 and median.n == 2
    assert most is None  # of the second seed it was not reached
    assert quantiles([], [0.5]) == (None,)
