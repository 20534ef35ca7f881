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


@pytest.mark.parametrize("network", sorted({row[0] for row in sensitivity.sensitivity(KEPT).rows}))
def test_the_sentences_have_the_tables_largest_changes(network: str) -> None:
    sheet, found = sensitivity.sensitivity(KEPT), sensitivity.numbers_of(KEPT, network)
    for response in RESPONSES:
        shown = [
            str(value)
            for row in sheet.rows
            if row[:2] == [network, response] and row[2] not in (sensitivity.AS_IT_IS, LAST)
            for value in row[3:]
            if value != MISSING
        ]
        assert len(shown) >= 2 * len(CELL["flavor"])
        largest = max(shown, key=lambda text: abs(float(text.split()[0].replace("−", "-"))))
        assert largest.split()[0] == signed(f"{found[response]:+.4f}")
        assert largest.split()[-1] == f"{found[f'{response}_half']:.4f}"


LAST = sensitivity.LAB[sensitivity.STARTS]


def made(folder: Path, after: dict[int, float], *others: str) -> Kept:
    """Trials of all levels with 0.5 and seed / 100, and those of 100 ticks with `after` more.

    They are of WAN. others: networks with the same trials, of which 5 us has none.
    """
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
                    for network in ("WAN", *(others if lab != sensitivity.SLOW else ())):
                        levels = [network, flavor, "EPD", "1", lab]
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


def test_each_network_has_its_own_lines_and_changes(tmp_path: Path) -> None:
    """A level that was not tried there has no line; in WAN, it has one without figures."""
    kept = made(tmp_path, dict.fromkeys(range(1, 4), 0.01), "GEO")
    rows = sensitivity.sensitivity(kept).rows
    assert [row[:3] for row in rows if row[1] == "fairness"] == [
        *(["WAN", "fairness", text] for text in (sensitivity.AS_IT_IS, *sensitivity.LAB.values())),
        *(
            ["GEO", "fairness", text]
            for text in (
                sensitivity.AS_IT_IS,
                *(text for lab, text in sensitivity.LAB.items() if lab != sensitivity.SLOW),
            )
        ),
    ]
    found = [one for one in sensitivity.changes(kept) if one.network == "GEO"]
    assert len(found) == 3 * len(RESPONSES) * len(CELL["flavor"])


@pytest.mark.parametrize("network", ["WAN", "MEO", "GEO"])
def test_a_page_says_where_seeds_are_few(network: str) -> None:
    found = sensitivity.numbers_of(KEPT, network)
    draws = {len(one.contrast.draws) for one in sensitivity.changes(KEPT) if one.network == network}
    assert bool(found["few"]) is (max(draws) < sensitivity.FEW)
    assert found["seeds_range"] == " to ".join(str(n) for n in sorted({min(draws), max(draws)}))
