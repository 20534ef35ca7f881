# SPDX-License-Identifier: GPL-2.0-only
"""Each check that 96-0518R1's claims name holds and fails on cells made for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.cells import Cell
from analysis.claims import Claim, Evidence, Finding, Method, NoEvidenceError, Verdict, claims_of
from analysis.claims.checks import CHECKS as GENERIC
from analysis.claims.reading import WIDER, load
from analysis.claims.words import words_of
from analysis.errors import TableError
from studies.ubr_1996.checks import CHECKS as OWN
from studies.ubr_1996.path import full_queue_cells, path_cells, windows_cells
from studies.ubr_1996.study import FOLDER, STUDY
from tests import made_plans

CLAIMS = FOLDER / "claims.toml"
CHECKS = {**GENERIC, **OWN}


def found(check: str, cells: list[Cell], **parameters: Any) -> Finding:
    return CHECKS[check](Evidence(cells, STUDY, Method.SEEDS), **parameters)


def row(lost: int = 0, window: int = 65_535, buffer: int = 10_000, **values: Any) -> Cell:
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
    metrics |= {"lost_frames": lost, "least_share": pairs * values.get("least", 1 / pairs)}
    return Cell(
        levels=factors,
        planned=made_plans.plan(
            {
                "topology": {"pairs": pairs, "mss_bytes": 512, **link, **delays},
                "tcp": {"window_bytes": window},
                "queue": {"down": {"buffer_cells": buffer}},
            }
        ),
        metrics={name: by_seed(value) for name, value in metrics.items()},
    )


def by_seed(value: float | list[float] | dict[int, float]) -> dict[int, float]:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value if isinstance(value, list) else [value], start=1))


def test_what_windows_and_path_leave() -> None:
    lan, wan = row(), row(network="WAN", window=120_000)
    # 5 windows of 127 segments of 12 cells; 30 us + 29 cell times of 2.726 us are 40 cells.
    assert (windows_cells(lan), path_cells(lan), full_queue_cells(lan)) == (7620, 40, 7580)
    assert (windows_cells(wan), path_cells(wan)) == (5 * 234 * 12, 11_032)
    # One source waits before its own link, two do not.
    assert full_queue_cells(row(sources=1)) is None
    assert full_queue_cells(row(sources=2)) == 2 * 127 * 12 - 40


LAN = {"network": ["LAN"]}
EPD = {"of": {"policy": ["EPD"]}, "minus": {"policy": ["plain"]}}
LOSSY = {"with_any": "lost_frames"}
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
        {"where": {}, "factor": "sources", "response": "peak_cells"},
        [row(sources=10, peak_cells=9.0), row(sources=2, peak_cells=3.0)],
        [row(sources=10, peak_cells=3.0), row(sources=2, peak_cells=9.0)],
    ),
    (
        "each_bounded",
        {"where": {}, "response": "efficiency", "at_least": 0.9, "without": "lost_frames"},
        [row(efficiency=0.9), row(1, efficiency=0.1)],
        [row(efficiency=0.9), row(efficiency=0.8, window=8192)],
    ),
    (
        "mean_bounded",
        {"where": {}, "response": "fairness", "at_most": 0.9, **LOSSY},
        [row(1, fairness=[0.5, 0.6, 0.7]), row(0)],
        [row(1, fairness=[0.95, 0.96, 0.97])],
    ),
    (
        "share_below",
        {"where": {}, "response": "fairness", "below": 0.9, "share": 0.5, **LOSSY},
        [row(1, fairness=[0.5, 0.95])],
        [row(1, fairness=[0.95, 0.95]), row(0, fairness=0.1)],
    ),
    (
        "gain",
        {"where": {}, "response": "fairness", **EPD},
        [row(fairness=[0.5, 0.5]), row(policy="EPD", fairness=[0.9, 0.91])],
        [row(fairness=[0.9, 0.91]), row(policy="EPD", fairness=[0.5, 0.5])],
    ),
    (
        "gain_larger",
        {
            "response": "efficiency",
            **EPD,
            "where": LAN,
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
        {"response": "efficiency", "where": {"network": ["WAN"]}, "than": LAN},
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
    check: str, parameters: dict[str, Any], good: list[Cell], bad: list[Cell]
) -> None:
    assert found(check, good, **parameters).verdict is Verdict.HOLDS
    assert found(check, bad, **parameters).verdict is Verdict.FAILS
    with pytest.raises(NoEvidenceError):
        found(check, [], **parameters)


def test_every_check_that_a_claim_names_has_a_case() -> None:
    used = {claim.check for claim in claims_of(STUDY, OWN)}
    assert {case[0] for case in CASES} == used - {"not_in_the_testbed"}


def test_a_difference_within_its_interval_is_undecided() -> None:
    parameters = CASES[8][1]
    rows = [row(fairness=[0.5, 0.7, 0.6]), row(policy="EPD", fairness=[0.7, 0.5, 0.65])]
    assert found("gain", rows, **parameters).verdict is Verdict.UNDECIDED


GAIN = {"response": "efficiency", **EPD}


def test_differences_are_those_of_the_same_seed() -> None:
    """Seed 2 of one row is missing: its seed 3 has nothing to do with the other's seed 2."""
    rows = [
        row(efficiency={1: 0.1, 2: 0.2, 3: 0.3}),
        row(policy="EPD", efficiency={1: 0.2, 3: 0.4}),
    ]
    told = found("gain", rows, where={}, **GAIN)
    assert told.evidence == (
        "efficiency, EPD minus plain: +0.1000 ± 0.0000 (paired by seed (2 of 3))"
    )
    assert told.verdict is Verdict.HOLDS


def test_rows_without_a_common_seed_are_compared_unpaired() -> None:
    rows = [row(efficiency={1: 0.1, 2: 0.1}), row(policy="EPD", efficiency={3: 0.2, 4: 0.3})]
    told = found("gain", rows, where={}, **GAIN)
    assert "(Welch, as the seeds do not match)" in told.evidence
    assert told.verdict is Verdict.UNDECIDED  # +0.15 ± 0.64: one degree of freedom


@pytest.mark.parametrize(
    ("check", "parameters"),
    [
        ("gain", {"where": {}, **GAIN}),
        ("gain_larger", {"where": LAN, "than": {"network": ["WAN"]}, **GAIN}),
        ("mean_larger", {"response": "efficiency", "where": {"network": ["WAN"]}, "than": LAN}),
        ("mean_bounded", {"where": {"policy": ["EPD"]}, "response": "efficiency", "at_least": 0.1}),
        ("queue_below_windows", {"where": {}}),
    ],
)
def test_one_seed_decides_nothing(check: str, parameters: dict[str, Any]) -> None:
    claim = Claim(
        id="a", sentence="s", source="1", check=check, parameters=parameters, rule=CHECKS[check]
    )

    def with_seeds(*seeds: int) -> Evidence:
        trials: Any = [SimpleNamespace(seed=seed) for seed in seeds]
        cells = [
            row(efficiency={seed: found + seed / 100 for seed in seeds}, network=net, policy=policy)
            for net, policy, found in (
                ("LAN", "plain", 0.2), ("WAN", "plain", 0.4),
                ("LAN", "EPD", 0.9), ("WAN", "EPD", 0.5),
            )
        ]  # fmt: skip
        return Evidence([replace(cell, trials=trials) for cell in cells], STUDY, Method.SEEDS)

    assert claim.on(with_seeds(1)).verdict is Verdict.ONE_SEED
    assert claim.on(with_seeds(1, 2)).verdict is not Verdict.ONE_SEED


def test_a_seed_in_which_one_row_has_no_value_decides_nothing() -> None:
    """Nobody received anything under plain in seed 2: what is left are survivors."""
    trials: Any = (SimpleNamespace(seed=1), SimpleNamespace(seed=2), SimpleNamespace(seed=3))
    plain = replace(row(efficiency={1: 0.1, 3: 0.3}), trials=trials)
    epd = replace(row(policy="EPD", efficiency=[0.2, 0.3, 0.4]), trials=trials)
    with pytest.raises(NoEvidenceError, match="plain Vanilla has no efficiency in seed 2"):
        found("gain", [plain, epd], where={}, **GAIN)


def test_a_trial_without_fairness_is_in_no_mean() -> None:
    """Nobody received anything in seed 2: what is known is seed 1's."""
    parameters = {"where": {}, "response": "fairness", "at_most": 0.6}
    told = found("each_bounded", [row(fairness={1: 0.5})], **parameters)
    assert told.verdict is Verdict.HOLDS and told.evidence == "fairness 0.500, at most 0.6"
    with pytest.raises(NoEvidenceError):
        found("each_bounded", [row(fairness={})], **parameters)
    with pytest.raises(NoEvidenceError):
        found("mean_bounded", [row(fairness={})], **parameters)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('factor = "sources"', 'factor = "senders"', "the key 'factor': 'senders' is no factor"),
        ("buffer = [10000]", "buffer = [1001]", "the key 'where': '1001' is no level of buffer"),
        ('response = "peak_cells"', 'response = "peak"', "'response': 'peak' is no response"),
        ("of = { buffer = [1000] }", "of = { buffer = [1234] }", "'1234' is no level of buffer"),
        ("sources = [5]", "sources = 5", "the key 'where.sources' = 5: must be a list"),
        ("at_most = 0.96", "", "needs one of the keys at_least, at_most"),
    ],
)
def test_a_word_that_the_design_has_not(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "claims.toml"
    text = CLAIMS.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(TableError, match=f"claims.toml: claim '.*': .*{message}"):
        load(path, CHECKS, words_of(STUDY))


def test_the_published_claims_are_read_and_undecided_without_cells() -> None:
    claims = claims_of(STUDY, OWN)
    assert len(claims) == 34 and sum(claim.id.endswith(WIDER) for claim in claims) == 4
    nothing = Evidence([], STUDY, Method.SEEDS)
    assert {claim.on(nothing).verdict for claim in claims} == {Verdict.UNDECIDED}
