# SPDX-License-Identifier: GPL-2.0-only
"""Each check of 96-0518R1's conclusions holds and fails on rows made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.errors import TableError
from analysis.evidence import NoEvidenceError
from analysis.persistent import Row
from analysis.persistent_verdicts import CHECKS, CONCLUSIONS, judge
from analysis.verdicts import Verdict


def row(lost: int = 0, window: int = 65_535, buffer: int = 10_000, **values: Any) -> Row:
    """A LAN row of the paper; `values` are levels and metrics, these one, a list, or by seed."""
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
        metrics={name: by_seed(value) for name, value in metrics.items()},
        lost_frames=(lost,),
        shares=((values.get("least", 1 / pairs),) * pairs,),
    )


def by_seed(value: float | list[float] | dict[int, float]) -> dict[int, float]:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value if isinstance(value, list) else [value], start=1))


def test_what_windows_and_path_leave() -> None:
    lan, wan = row(), row(network="WAN", window=120_000)
    # 5 windows of 127 segments of 12 cells; 30 us + 29 cell times of 2.726 us are 40 cells.
    assert (lan.windows_cells, lan.path_cells, lan.full_queue_cells) == (7620, 40, 7580)
    assert (wan.windows_cells, wan.path_cells) == (5 * 234 * 12, 11_032)
    # One source waits before its own link, two do not.
    assert row(sources=1).full_queue_cells is None
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
            *(row(efficiency=[e, e], policy=p) for p, e in (("plain", 0.2), ("EPD", 0.5))),
            *(
                row(efficiency=[e, e], policy=p, network="WAN")
                for p, e in (("plain", 0.8), ("EPD", 1.0))
            ),
        ],
        [
            *(row(efficiency=[e, e], policy=p) for p, e in (("plain", 0.2), ("EPD", 0.3))),
            *(
                row(efficiency=[e, e], policy=p, network="WAN")
                for p, e in (("plain", 0.8), ("EPD", 1.0))
            ),
        ],
    ),
    (
        "mean_larger",
        {"metric": "efficiency", "in_rows": {"network": ["WAN"]}, "than": LAN},
        [row(efficiency=[0.3, 0.31]), row(network="WAN", efficiency=[0.8, 0.81])],
        [row(efficiency=[0.8, 0.81]), row(network="WAN", efficiency=[0.3, 0.31])],
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
    (
        "none_starves",
        {"where": {}, "least_share": 0.05},
        [row(), row(least=0.011)],
        [row(), row(least=0.009)],  # of five: 0.045 of an equal share
    ),
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


GAIN = {"metric": "efficiency", "factor": "policy", "of": "EPD", "minus": "plain"}


def test_differences_are_those_of_the_same_seed() -> None:
    """Seed 2 of one row is missing: its seed 3 has nothing to do with the other's seed 2."""
    rows = [
        row(efficiency={1: 0.1, 2: 0.2, 3: 0.3}),
        row(policy="EPD", efficiency={1: 0.2, 3: 0.4}),
    ]
    found = CHECKS["gain"](rows, where={}, **GAIN)
    assert found.evidence == "efficiency, EPD less plain: +0.100 ± 0.000"
    assert found.verdict is Verdict.HOLDS


def test_rows_without_a_common_seed_make_no_difference() -> None:
    rows = [row(efficiency={1: 0.1}), row(policy="EPD", efficiency={2: 0.2})]
    with pytest.raises(NoEvidenceError, match="EPD and plain on the same row and seed"):
        CHECKS["gain"](rows, where={}, **GAIN)


@pytest.mark.parametrize(
    ("check", "parameters"),
    [
        ("gain", {"where": {}, **GAIN}),
        ("gain_larger", {"in_rows": LAN, "than": {"network": ["WAN"]}, **GAIN}),
        ("mean_larger", {"metric": "efficiency", "in_rows": {"network": ["WAN"]}, "than": LAN}),
        ("mean_bounded", {"where": {"policy": ["EPD"]}, "metric": "efficiency", "at_least": 0.1}),
    ],
)
def test_one_value_has_no_interval_and_decides_nothing(
    check: str, parameters: dict[str, Any]
) -> None:
    plain = [row(efficiency=0.2), row(network="WAN", efficiency=0.4)]
    epd = [row(policy="EPD", efficiency=0.9), row(network="WAN", policy="EPD", efficiency=0.5)]
    chosen = {"gain_larger": [*plain, *epd], "mean_larger": plain}.get(check, [plain[0], epd[0]])
    assert CHECKS[check](chosen, **parameters).verdict is Verdict.UNDECIDED


def test_a_trial_without_fairness_is_in_no_mean() -> None:
    """Nobody received anything in seed 2: what is known is seed 1's."""
    parameters = {"where": {}, "metric": "fairness", "at_most": 0.6}
    assert CHECKS["each_bounded"]([row(fairness={1: 0.5})], **parameters).verdict is Verdict.HOLDS
    with pytest.raises(NoEvidenceError):
        CHECKS["each_bounded"]([row(fairness={})], **parameters)
    with pytest.raises(NoEvidenceError):
        CHECKS["mean_bounded"]([row(fairness={})], **parameters)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('factor = "sources"', 'factor = "senders"', "the key 'factor': unknown factor 'senders'"),
        ("buffer = [10000]", "buffer = [1001]", "the key 'where': unknown level of buffer '1001'"),
        ('metric = "peak_cells"', 'metric = "peak"', "the key 'metric': unknown metric 'peak'"),
        ("of = 1000", "of = 1234", "the key 'of': unknown level of buffer '1234'"),
        ("sources = [5]", "sources = 5", "the key 'where': Input should be"),
        ("at_most = 0.5", "", "needs one of the keys at_least, at_most"),
    ],
)
def test_a_word_that_the_design_has_not(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "conclusions.toml"
    text = CONCLUSIONS.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(TableError, match=f"conclusions.toml: conclusion '.*': {message}"):
        judge([], path)


def test_the_published_conclusions_are_read_and_undecided_without_rows() -> None:
    found = judge([])
    assert len(found) == 24
    assert {finding.verdict for _, finding in found} == {Verdict.UNDECIDED}
