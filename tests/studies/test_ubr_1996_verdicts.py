# SPDX-License-Identifier: GPL-2.0-only
"""96-0518R1's claims: kept verdicts where a reading did not change, else by the kept means."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from analysis.kept import number as value
from harness.judge import studies
from studies.ubr_1996 import verdicts

KEPT = Kept(studies.folder("ubr_1996") / "results")


@pytest.mark.parametrize("campaign", list(verdicts.READINGS))
def test_a_kept_verdict_is_of_a_reading_that_did_not_change(campaign: str) -> None:
    found = verdicts.found(KEPT, campaign)
    old = {row["id"]: row["verdict_seeds"] for row in KEPT.claims(campaign).rows}
    kept = {name: verdict for name, (way, verdict) in found.items() if way == verdicts.INTERVALS}
    assert len(kept) == 20 and kept.items() <= old.items()
    assert "lan-low-efficiency" not in kept  # at most 0.5 then, 0.3 now


def test_a_bound_of_the_means_decides() -> None:
    """The LAN's mean efficiency with losses lies between the first bound and the wider one."""
    rows = KEPT.cells("ubr-persistent").rows
    lossy = [row for row in rows if row["network"] == "LAN" and row["sources"] == "5"]
    lossy = [row for row in lossy if row["policy"] != "EPD-n" and float(row["lost_frames"])]
    means = [x for row in lossy if (x := value(row, "efficiency")) is not None]
    assert 0.3 < sum(means) / len(means) < 0.5
    found = verdicts.found(KEPT, "ubr-persistent")
    assert found["lan-low-efficiency"] == (verdicts.MEANS, "does not hold")
    assert found["lan-low-efficiency-wider"] == (verdicts.MEANS, "holds")
