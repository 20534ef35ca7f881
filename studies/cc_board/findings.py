# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentences (sentences.toml), from the kept results."""

from __future__ import annotations

from analysis.claims import Verdict
from analysis.kept import Kept
from analysis.report.sentences import Number, Numbers
from studies.cc_board import board
from studies.cc_board.study import STUDY

SHORT = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails", Verdict.UNDECIDED: "open"}
SIGN = {Verdict.HOLDS: 1, Verdict.FAILS: -1}
"""A verdict as a number, for the conditions of sentences; 0 where it is undecided."""


def board_numbers(kept: Kept) -> Numbers:
    """Each figure and its verdict by the criterion's id and the sender, and the counts."""
    rows = board.kept_places(kept)
    manifests = [kept.manifest(name) for name in board.CAMPAIGNS]
    found: dict[str, Number] = {
        "trials": sum(one["trials"] for one in manifests),
        "seeds": len(manifests[0]["seeds"]),
        "criteria": len(rows),
        "minus": -1,
        "cases": len(STUDY.cell["case"]),
    }
    for row in rows:
        for place in row:
            if place.figure is not None:
                name = f"{place.claim.id}-{place.flavor}".replace("-", "_").lower()
                found[name] = place.figure.mean
                found[f"{name}_half"] = place.figure.half_width
                found[f"{name}_kept"] = SIGN.get(place.finding.verdict, 0)
    for flavor, counted in board.counts(rows).items():
        for verdict, word in SHORT.items():
            found[f"{flavor.lower()}_{word}"] = counted[verdict]
    return found | cost(kept)


def cost(kept: Kept) -> dict[str, Number]:
    """What the trials took: the hours of a lab, and the minutes of a lab for each seed."""
    manifests = [kept.manifest(name) for name in board.CAMPAIGNS]
    wall_s = sum(one["wall_s"] for one in manifests)
    return {
        "virtual_h": sum(one["virtual_s"] for one in manifests) / 3600,
        "wall_min": wall_s / 60,
        "seed_min": wall_s / 60 / len(manifests[0]["seeds"]),
    }
