# SPDX-License-Identifier: GPL-2.0-only
"""What the lab itself changes: paired by seed, and the sentences say what the table shows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.kept import Kept
from analysis.report.model import MISSING, signed
from harness.judge import studies
from studies.ubrplus_1998 import sensitivity
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.study import CELL

KEPT = Kept(studies.folder("ubrplus_1998") / "results")


def test_the_sentences_have_the_tables_largest_changes() -> None:
    sheet, found = sensitivity.sensitivity(KEPT), sensitivity.numbers(KEPT)
    for response in RESPONSES:
        shown = [
            str(value)
            for row in sheet.rows
            if row[0] == response and row[1] not in (sensitivity.AS_IT_IS, LAST)
            for value in row[2:]
            if value != MISSING
        ]
        assert len(shown) >= 2 * len(CELL["flavor"])
        largest = max(shown, key=lambda text: abs(float(text.split()[0].replace("−", "-"))))
        assert largest.split()[0] == signed(f"{found[response]:+.4f}")
        assert largest.split()[-1] == f"{found[f'{response}_half']:.4f}"


LAST = sensitivity.LAB[sensitivity.STARTS]


def made(folder: Path, after: dict[int, float]) -> Kept:
    """Trials of all levels with 0.5 and seed / 100, and those of 100 ticks with `after` more."""
    target = folder / sensitivity.CAMPAIGN
    target.mkdir()
    heads = ["network", "flavor", "policy", "buffer", "lab", "seed", "trial", "plan", "digest"]
    heads += ["virtual_s", "wall_s", "ended", *RESPONSES]
    with (target / "trials.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(heads)
        for lab in (sensitivity.AS_IT_IS, *sensitivity.LAB):
            for flavor in CELL["flavor"]:
                for seed, more in after.items():
                    own = 0.5 + seed / 100 + (more if lab == sensitivity.TICKS else 0)
                    levels = ["WAN", flavor, "EPD", "1", lab]
                    lines.writerow([*levels, seed, "t", "p", "d", 1, 1, "", own, own])
    return Kept(folder)


@pytest.mark.parametrize("more", [0.01, -0.02])
def test_a_change_that_all_seeds_share_has_a_narrow_interval(tmp_path: Path, more: float) -> None:
    """The seeds differ by 0.01 each; paired, nothing of that is left."""
    kept = made(tmp_path, dict.fromkeys(range(1, 6), more))
    for change in sensitivity.changes(kept):
        wanted = more if change.lab == sensitivity.TICKS else 0.0
        assert change.contrast.difference == pytest.approx(wanted, abs=1e-12)
        assert change.contrast.half_width == pytest.approx(0, abs=1e-9)


def test_a_change_that_the_seeds_do_not_share_is_not_sure(tmp_path: Path) -> None:
    kept = made(tmp_path, {1: 0.02, 2: -0.02, 3: 0.02, 4: -0.02})
    for change in sensitivity.changes(kept):
        if change.lab == sensitivity.TICKS:
            assert change.p == pytest.approx(1) and (change.contrast.half_width or 0) > 0.03
