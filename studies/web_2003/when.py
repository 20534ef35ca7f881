# SPDX-License-Identifier: GPL-2.0-only
"""When the long trials ran, and which of their seeds changed a verdict (sentences.toml)."""

from itertools import pairwise

from analysis.kept import Kept
from analysis.report.days import Days, in_words
from analysis.report.sentences import Numbers
from studies.web_2003 import steps
from studies.web_2003.abstract import SLIDES, WHOLE


def numbers(kept: Kept) -> Numbers:
    """The days of the seeds, at the slides' loads and below; the seeds that moved a verdict."""
    moved = [before != after for before, after in pairwise(steps.steps(kept).values())]
    return {
        "days": _lower(in_words(days(kept, high=True))),
        "few_days": _lower(in_words(days(kept, high=False))),
        "movers": sum(moved),
        "later": len(moved),
    }


def days(kept: Kept, *, high: bool) -> Days:
    """The days of the long trials at the slides' loads (high), or at the others."""
    found: dict[int, set[str]] = {}
    for row in kept.table(WHOLE, "trials").rows:
        if (row["load"] in SLIDES) is high:
            found.setdefault(int(row["seed"]), set()).add(row["ended"][:10])
    return {seed: sorted(found[seed]) for seed in sorted(found)}


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
