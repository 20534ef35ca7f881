# SPDX-License-Identifier: GPL-2.0-only
"""Each check of 96-0518R1's conclusions holds and fails on rows made for it."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.evidence import NoEvidenceError
from analysis.persistent import Row
from analysis.persistent_verdicts import CHECKS, judge
from analysis.verdicts import Verdict


def row(lost: int = 0, window: int = 65_535, buffer: int = 10_000, **values: Any) -> Row:
    """A LAN row of the paper; `values` are levels and metrics."""
    factors = {"network": "LAN", "sources": "5", "buffer": str(buffer), "window": str(window)}
    factors |= {"policy": "plain", "flavor": "Vanilla"}
    factors |= {name: str(level) for name, level in values.items() if name in factors}
    delay_ns = 5_000 if factors["network"] == "LAN" else 5_000_000
    link = {"rate_bit_per_s": 155_520_000, "access_rate_bit_per_s": 155_520_000}
    delays = {"delay_ns": delay_ns, "access_delay_ns": delay_ns}
    pairs = int(factors["sources"])
    metrics = {"efficiency": 1.0, "fairness": 1.0, "peak_cells": 7580.0}
    metrics |= {name: value for name, value in values.items() if name in metrics}
    return Row(
        factors=factors,
        plan={
            "topology": {"pairs": pairs, "mss_bytes": 512, **link, **delays},
            "tcp": {"window_bytes": window},
            "queue": {"down": {"buffer_cells": buffer}},
        },
        paper=None,
        metrics={
            name: tuple(value) if isinstance(value, list) else (value,)
            for name, value in metrics.items()
        },
        lost_frames=(lost,),
        shares=((values.get("least", 1 / pairs),) * pairs,),
    )


def test_what_windows_and_path_leave() -> None:
    lan, wan = row(), row(network="WAN", window=120_000)
    # 5 windows of 127 segments of 12 cells; 30 us + 29 cell times of 2.726 us are 40 cells.
    assert (lan.windows_cells, lan.path_cells, lan.full_queue_cells) == (7620, 40, 7580)
    assert (wan.windows_cells, wan.path_cells) == (5 * 234 * 12, 11_032)
    # One source waits before its own link, two do not.
    assert row(sources=1).full_queue_cells == 0
    assert row(sources=2).full_queue_cells == 2 * 127 * 12 - 40


LAN = {"network": ["LAN"]}
CASES = [
    (
        "queue_is_sum_of_windows",
        {"where": LAN, "within_cells": 0},
        [row()],
        [row(peak_cells=7581.0)],
    ),
    ("queue_below_windows", {"where": {}}, [row(peak_cells=7620.0)], [row(peak_cells=7621.0)]),
    ("no_loss_with_buffer", {"where": {}}, [row(), row(1, buffer=7000)], [row(1, buffer=7620)]),
    (
        "loss_without_buffer",
        {"where": {}},
        [row(1, buffer=1000), row(buffer=7600)],
        [row(buffer=1000)],
    ),
    (
        "grows",
        {"where": {}, "factor": "sources", "metric": "peak_cells"},
        [row(sources=10, peak_cells=9.0), row(sources=2, peak_cells=3.0)],
        [row(sources=10, peak_cells=3.0), row(sources=2, peak_cells=9.0)],
    ),
    (
        "each_bounded",
        {"where": {}, "metric": "efficiency", "at_least": 0.9, "lossy": False},
        [row(efficiency=0.9), row(1, efficiency=0.1)],
        [row(efficiency=0.9), row(efficiency=0.8, window=8192)],
    ),
    (
        "mean_bounded",
        {"where": {}, "metric": "fairness", "at_most": 0.9, "lossy": True},
        [row(1, fairness=[0.5, 0.6, 0.7]), row(0)],
        [row(1, fairness=[0.95, 0.96, 0.97])],
    ),
    (
        "share_below",
        {"where": {}, "metric": "fairness", "below": 0.9, "share": 0.5},
        [row(1, fairness=[0.5, 0.95])],
        [row(1, fairness=[0.95, 0.95]), row(0, fairness=0.1)],
    ),
    (
        "gain",
        {"where": {}, "metric": "fairness", "factor": "policy", "of": "EPD", "minus": "plain"},
        [row(fairness=[0.5, 0.5]), row(policy="EPD", fairness=[0.9, 0.91])],
        [row(fairness=[0.9, 0.91]), row(policy="EPD", fairness=[0.5, 0.5])],
    ),
    (
        "gain_larger",
        {
            "metric": "efficiency",
            "factor": "policy",
            "of": "EPD",
            "minus": "plain",
            "in_rows": LAN,
            "than": {"network": ["WAN"]},
        },
        [
            *(row(efficiency=e, policy=p) for p, e in (("plain", 0.2), ("EPD", 0.5))),
            *(
                row(efficiency=e, policy=p, network="WAN")
                for p, e in (("plain", 0.8), ("EPD", 1.0))
            ),
        ],
        [
            *(row(efficiency=e, policy=p) for p, e in (("plain", 0.2), ("EPD", 0.3))),
            *(
                row(efficiency=e, policy=p, network="WAN")
                for p, e in (("plain", 0.8), ("EPD", 1.0))
            ),
        ],
    ),
    (
        "mean_larger",
        {"metric": "efficiency", "in_rows": {"network": ["WAN"]}, "than": LAN},
        [row(efficiency=0.3), row(network="WAN", efficiency=0.8)],
        [row(efficiency=0.8), row(network="WAN", efficiency=0.3)],
    ),
    (
        "window_fills_link",
        {"where": {"sources": [1]}, "within": 0.01},
        [
            row(sources=1, network="WAN", window=120_000, efficiency=2808 / 11_032),
            row(sources=1, network="WAN", window=600_000),
        ],
        [
            row(sources=1, network="WAN", window=120_000),
            row(sources=1, network="WAN", window=600_000),
        ],
    ),
    ("none_starves", {"where": {}}, [row()], [row(least=0.0)]),
]


@pytest.mark.parametrize(("check", "parameters", "good", "bad"), CASES, ids=[c[0] for c in CASES])
def test_a_check_holds_and_fails(
    check: str, parameters: dict[str, Any], good: list[Row], bad: list[Row]
) -> None:
    assert CHECKS[check](good, **parameters).verdict is Verdict.HOLDS
    assert CHECKS[check](bad, **parameters).verdict is Verdict.FAILS
    if check != "gain":
        with pytest.raises(NoEvidenceError):
            CHECKS[check]([], **parameters)


def test_every_check_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(CHECKS) - {"not_in_the_testbed"}


def test_a_difference_within_its_interval_is_undecided() -> None:
    parameters = CASES[8][1]
    rows = [row(fairness=[0.5, 0.7, 0.6]), row(policy="EPD", fairness=[0.7, 0.5, 0.65])]
    assert CHECKS["gain"](rows, **parameters).verdict is Verdict.UNDECIDED


def test_the_published_conclusions_are_read_and_undecided_without_rows() -> None:
    found = judge([])
    assert len(found) == 24
    assert {finding.verdict for _, finding in found} == {Verdict.UNDECIDED}
