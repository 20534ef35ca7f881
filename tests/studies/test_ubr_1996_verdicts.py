# SPDX-License-Identifier: GPL-2.0-only
"""96-0518R1's claims: the kept verdicts, by campaign and bound."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from analysis.kept import number as value
from harness.judge import studies
from studies.ubr_1996 import verdicts

KEPT = Kept(studies.folder("ubr_1996") / "results")


@pytest.mark.parametrize("campaign", list(verdicts.READINGS))
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
