# SPDX-License-Identifier: GPL-2.0-only
"""The goodputs that 96-0518R1 printed give the efficiency and fairness beside them."""

from __future__ import annotations

import itertools
import math

import pytest

from analysis.metrics import jain_index
from studies.ubr_1996.goodputs import pairs
from studies.ubr_1996.study import goodputs, results

LINK_MBIT_PER_S = 155.52 * 512 / 636
"""What whole segments leave of the link: the source's 125.2 (Performance Metrics)."""
DIFFERENT = {
    ("LAN", "EPD", "1000", "65535"): "index 0.5263 is cut off to 0.52",
    ("LAN", "EPD", "500", "32767"): "index 0.4456 is cut off to 0.44",
    ("WAN", "plain", "12000", "1800000"): "goodputs of the row above: 71 %, not 74",
}


def test_a_hundred_goodputs_of_the_same_rows() -> None:
    assert list(goodputs()) == list(results())
    assert {len(row) for row in goodputs().values()} == {5}


def test_sums_and_indices_give_the_printed_figures_but_in_three_rows() -> None:
    unlike = set()
    for row, rates in goodputs().items():
        percent = round(100 * math.fsum(rates) / LINK_MBIT_PER_S)
        found = {"efficiency": percent / 100, "fairness": round(jain_index(rates) or 0, 2)}
        unlike |= {row} if found != results()[row] else set()
    assert unlike == set(DIFFERENT)


def test_what_is_different_in_the_three_rows() -> None:
    indices = {row: round(jain_index(goodputs()[row]) or 0, 4) for row in DIFFERENT}
    assert list(indices.values()) == [0.5263, 0.4456, 0.9982]
    copied = ("WAN", "plain", "12000", "1800000")
    assert goodputs()[copied] == goodputs()[("WAN", "plain", "12000", "600000")]


def test_two_pairs_of_rows_may_be_one_run_each() -> None:
    """Rows without losses have the same goodputs too, but they have other buffers."""
    same = [
        (first, second)
        for first, second in itertools.combinations(goodputs(), 2)
        if first[:2] == second[:2] and goodputs()[first] == goodputs()[second]
    ]
    assert [(one[:3], one[3], other[3]) for one, other in same] == [
        (("LAN", "plain", "10000"), "65535", "8192"),
        (("WAN", "plain", "12000"), "600000", "1800000"),
        (("WAN", "EPD", "12000"), "600000", "1800000"),
    ]
    found = pairs()
    assert (found["pairs"], found["separate"]) == (2, 18)
    assert found["separate_by_chance"] == pytest.approx(0.9)
