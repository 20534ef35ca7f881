# SPDX-License-Identifier: GPL-2.0-only
"""The three readings of "Poisson with mean 5, from 1 to 9", against the closed form."""

import math

import pytest

from workload.errors import WorkloadError
from workload.poisson import FITS, bounded


def closed_form(rate, k):
    return math.exp(-rate) * rate**k / math.factorial(k)


def probabilities(found):
    return [b - a for a, b in zip((0.0, *found.cumulative), found.cumulative, strict=False)]


def test_redraw_is_the_poisson_given_that_it_fell_inside():
    inside = [closed_form(5, k) for k in range(1, 10)]
    expected = [p / sum(inside) for p in inside]
    assert probabilities(bounded(5, 1, 9, "redraw")) == pytest.approx(expected, rel=1e-12)


def test_clamp_moves_both_tails_to_the_ends():
    found = probabilities(bounded(5, 1, 9, "clamp"))
    assert found[0] == pytest.approx(closed_form(5, 0) + closed_form(5, 1), rel=1e-12)
    assert found[1:8] == pytest.approx([closed_form(5, k) for k in range(2, 9)], rel=1e-12)
    assert found[8] == pytest.approx(1 - sum(closed_form(5, k) for k in range(9)), rel=1e-9)


@pytest.mark.parametrize(("mean", "low", "high"), [(5, 1, 9), (2, 1, 9), (8.5, 1, 9), (3, 0, 30)])
def test_mean_has_the_mean_asked_for_and_keeps_the_poisson_shape(mean, low, high):
    found = bounded(mean, low, high, "mean")
    assert found.mean() == pytest.approx(mean, abs=1e-12)
    p = probabilities(found)
    # p(k+1)/p(k) = rate/(k+1) for one rate.
    rates = [p[i + 1] / p[i] * (low + i + 1) for i in range(min(len(p) - 1, 8))]
    assert rates == pytest.approx([rates[0]] * len(rates), rel=1e-6)


def test_means_of_the_other_readings():
    assert bounded(5, 1, 9, "redraw").mean() == pytest.approx(4.84644, abs=1e-5)
    assert bounded(5, 1, 9, "clamp").mean() == pytest.approx(4.95272, abs=1e-5)


@pytest.mark.parametrize("fit", FITS)
def test_ends_of_the_uniform_are_the_bounds(fit):
    found = bounded(5, 1, 9, fit)
    assert found.at(0.0) == 1
    assert found.at(math.nextafter(1.0, 0.0)) == 9
    assert found.at(found.cumulative[3]) == 5  # a boundary belongs to the value above it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 1, 9, "bend"), "the Poisson fit 'bend' is unknown"),
        ((9, 1, 9, "mean"), "mean 9 must lie between 1 and 9"),
        ((1, 1, 9, "redraw"), "mean 1 must lie between"),
        ((5, 9, 1, "mean"), "between 9 and 1"),
        ((5, -1, 9, "mean"), "between -1 and 9"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(WorkloadError, match=message):
        bounded(*arguments)
