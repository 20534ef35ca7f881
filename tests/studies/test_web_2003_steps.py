# SPDX-License-Identifier: GPL-2.0-only
"""The verdicts by the number of seeds."""

from __future__ import annotations

import csv
from pathlib import Path

from analysis.kept import Kept
from harness.judge import studies
from studies.web_2003 import steps
from studies.web_2003.abstract import WHOLE

KEPT = Kept(studies.folder("web_2003") / "results")
READING = "ecn-half-the-retransmissions"
"""The share with ECN is at most half of the share without: at 80 and 105 %, Reno and SACK."""


def made(folder: Path, shares: list[float]) -> Kept:
    """Long trials in which the share with ECN is this part of the share without, by seed."""
    target = folder / WHOLE
    target.mkdir()
    heads = ["load", "sender", "queue", "seed", "trial", "plan", "digest", "virtual_s", "wall_s",
             "ended", "resent_share"]  # fmt: skip
    rows = [
        [load, sender, queue, seed, "t", "p", "d", 1, 1, "", 0.1 * part]
        for load in ("80", "105")
        for sender in ("Reno", "SACK")
        for seed, share in enumerate(shares, start=1)
        for queue, part in (("ARED", 1.0), ("ARED+ECN", share))
    ]
    with (target / "trials.csv").open("w", newline="") as file:
        csv.writer(file).writerows([heads, *rows])
    return Kept(folder)


def test_all_seeds_give_the_kept_verdicts() -> None:
    """The kept verdicts were made from the records, and these from the kept figures."""
    kept = {row["id"]: row["verdict_seeds"] for row in KEPT.claims(WHOLE).rows}
    found = steps.steps(KEPT)
    assert found[max(found)] == kept


def test_later_seeds_do_not_count_in_an_earlier_step(tmp_path: Path) -> None:
    found = steps.steps(made(tmp_path, [0.1, 0.11, 0.12, 3.0]))
    assert [of[READING] for of in found.values()] == ["holds", "undecided"]


def test_a_verdict_that_crosses_is_counted(tmp_path: Path) -> None:
    """Three seeds have a tenth, twelve three times as much: at most half, and then surely more.

    The other reading of these shares (at most as large) becomes undecided, and crosses nothing.
    """
    found = steps.numbers(made(tmp_path, [0.1, 0.11, 0.12, *[3.0] * 12]))
    assert (found["fewest"], found["seeds"]) == (3, 15)
    assert (found["moved"], found["back"], found["crossed"]) == (2, 0, 1)
