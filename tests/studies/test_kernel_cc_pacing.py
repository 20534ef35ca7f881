# SPDX-License-Identifier: GPL-2.0-only
"""BBR with fq and without: changes are paired by seed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.kept import Kept
from studies.kernel_cc import pacing


def made(folder: Path, after: dict[int, float]) -> Kept:
    """Transfers with 100 times the seed segments sent again, and with fq `after` more."""
    with (folder / pacing.FILE).open("w", newline="") as file:
        lines = csv.writer(file)
        names = [name for name, *_ in pacing.RESPONSES]
        lines.writerow(["seed", "pacer", "flows", *names, "held_packets"])
        for seed, more in after.items():
            lines.writerow([seed, pacing.TCP, 1, 20, 100 * seed, 45, 0])
            lines.writerow([seed, pacing.FQ, 1, 19, 100 * seed + more, 45, 7])
    return Kept(folder / "results")


def test_a_change_that_all_seeds_share_is_sure(tmp_path: Path) -> None:
    kept = made(tmp_path, {1: 5, 2: 5.001, 3: 4.999, 4: 5})
    found = pacing.change(pacing.rows(kept), "1", "retransmits")
    assert found.mean == pytest.approx(5) and (found.half_width or 1) < 0.01
    numbers = pacing.numbers(kept)
    assert (numbers["seeds"], numbers["trials"], numbers["changes"]) == (4, 8, 3)
    assert numbers["sure"] == 2 and numbers["goodput"] == pytest.approx(5)  # with the goodput
    assert numbers["held_least"] == 7


def test_a_change_that_the_seeds_do_not_share_is_not_sure(tmp_path: Path) -> None:
    kept = made(tmp_path, {1: 5, 2: -5, 3: 5, 4: -5})
    assert pacing.numbers(kept)["sure"] == 1
    change = pacing.table(kept).rows[-1]
    assert change[:3] == ["1", "change", None] and "±" in str(change[4])
