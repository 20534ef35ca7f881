# SPDX-License-Identifier: GPL-2.0-only
"""96-0518R1's claims: the kept verdicts, by campaign and bound."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from analysis.kept import number as value
from harness.judge import studies
from studies.ubr_1996 import verdicts

KEPT = Kept(studies.folder("ubr_1996") / "results")


@pytest.mark.parametrize("campaign", list(verdicts.MEASUREMENTS))
def test_a_reading_has_its_kept_verdict_or_was_not_measured(campaign: str) -> None:
    found = verdicts.found(KEPT, campaign)
    rows = {row["id"]: row for row in KEPT.claims(campaign).rows}
    assert found.keys() == rows.keys()
    for name, verdict in found.items():
        is_open = "not measured" in rows[name]["evidence_seeds"]
        assert verdict == (verdicts.NOT_MEASURED if is_open else rows[name]["verdict_seeds"])


def test_a_bound_decides() -> None:
    """The LAN's mean efficiency with losses lies between the first bound and the wider one."""
    rows = KEPT.cells("ubr-persistent").rows
    lossy = [row for row in rows if row["network"] == "LAN" and row["sources"] == "5"]
    lossy = [row for row in lossy if row["policy"] != "EPD-n" and float(row["lost_frames"])]
    means = [x for row in lossy if (x := value(row, "efficiency")) is not None]
    assert 0.3 < sum(means) / len(means) < 0.5
    found = verdicts.found(KEPT, "ubr-persistent")
    assert found["lan-low-efficiency"] == "does not hold"
    assert found["lan-low-efficiency-wider"] == "holds"


def test_what_was_not_measured_counts_under_no_verdict() -> None:
    numbers = verdicts.numbers(KEPT)
    for of in ("", "slow_"):
        assert numbers[f"{of}claims"] == sum(
            numbers[f"{of}{name}"] for name in ("holds", "fails", "undecided")
        )
    assert verdicts.NOT_MEASURED in verdicts.found(KEPT, "ubr-persistent").values()


def test_each_sentence_in_short_stands_behind_its_verdict() -> None:
    """The abstract's lists, of both campaigns, against the kept verdicts."""
    named = verdicts.named(KEPT)
    for prefix, campaign in zip(("which", "slow_which"), verdicts.MEASUREMENTS, strict=True):
        verdict = verdicts.found(KEPT, campaign)["seven-7-no-starvation"]
        [group] = [name for name, of in verdicts.GROUPS.items() if of == verdict]
        assert "No source starves" in named[f"{prefix}_{group}"]
    assert not any("ABR" in text for text in named.values())


def test_a_share_has_its_bound_and_a_span_says_which_rows_are_only_ours() -> None:
    text = verdicts.named(KEPT)["which_fails"]
    assert "in 47 of 160 trials; bound: at least 33 % of them)" in text
    assert "(0.406 to 1.000 in 24 rows; the paper has 16 of these rows)" in text
    rows = [row for row in KEPT.cells("ubr-persistent").rows if row["sources"] == "5"]
    lossy = [row for row in rows if float(row["lost_frames"]) > 0]
    assert (len(lossy), sum(row["policy"] == "EPD-n" for row in lossy)) == (24, 24 - 16)


@pytest.mark.parametrize(
    ("evidence", "figure"),
    [
        ("fairness below 0.895 in 47 of 160 trials", "fairness below 0.895 in 47 of 160 trials"),
        ("mean +0.4598 ± 0.0103 (paired), at most 0.3", "0.460 ± 0.010; bound: at most 0.3"),
        ("fairness, EPD minus plain: -0.0317 ± 0.0221 (paired)", "−0.032 ± 0.022"),
        ("WAN +0.9 ± 0.1, LAN +0.8 ± 0.2, difference -0.0246 ± 0.0164", "−0.025 ± 0.016"),
        ("efficiency 0.406 to 1.000 in 24 cells; 12 beyond", "0.406 to 1.000 in 24 rows"),
        ("1 rows, 0 of them without loss", ""),
    ],
)  # fmt: skip
def test_the_figure_of_a_verdict(evidence: str, figure: str) -> None:
    assert verdicts.figure(evidence) == figure
