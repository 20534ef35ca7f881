# SPDX-License-Identifier: GPL-2.0-only
"""In how many seeds the changes of an undecided reading have one sign.

"Undecided" says that a change may lie beyond the reading's bound. It does not say whether the seeds
agree: a change can have one sign in all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.claims.findings import Figure, Verdict
from analysis.kept import Kept
from analysis.report.model import Sheet, plain, signed
from analysis.report.sentences import Numbers
from studies.web_2003 import readings, steps
from studies.web_2003.abstract import AS_IN_NS_2

LINUX, NS_2, BOTH = "Linux's", "ns-2's", "both"


@dataclass(frozen=True)
class Change:
    """A change that an undecided reading is about.

    claim: without the kind of Adaptive RED, which `red` names. Drop tail is the same with both.
    """

    claim: str
    red: str
    figure: Figure

    @property
    def seeds(self) -> int:
        """How many seeds have it."""
        return len(self.figure.measured.draws)

    @property
    def alike(self) -> int:
        """In how many of them it has the sign of its mean."""
        mean = self.figure.measured.difference
        return sum(draw * mean > 0 for draw in self.figure.measured.draws)

    @property
    def excludes_0(self) -> bool:
        """Whether its interval does; without a correction for the number of changes."""
        half = self.figure.measured.half_width
        return half is not None and abs(self.figure.measured.difference) > half

    @property
    def text(self) -> str:
        """Its mean and its interval."""
        middle, half = self.figure.measured.difference, self.figure.measured.half_width or 0.0
        low, high = map(_percent, (middle - half, middle + half))
        return f"{_percent(middle)} ({low} to {high})"


def changes(kept: Kept) -> list[Change]:
    """All of the undecided readings of the long trials that compare two cells, each once."""
    found: dict[tuple[str, str, float], Change] = {}
    for name, figures in undecided(kept).items():
        claim, red = name.removesuffix(AS_IN_NS_2), NS_2 if name.endswith(AS_IN_NS_2) else LINUX
        for one in figures:
            key = (claim, one.name, one.measured.difference)
            found[key] = Change(claim, BOTH if key in found else red, one)
    return list(found.values())


def undecided(kept: Kept) -> dict[str, list[Figure]]:
    """Claim -> its changes, of the undecided readings that compare two cells."""
    found = steps.findings(kept, steps.last_seed(kept))
    changed = {name: [f for f in one.figures if f.relative] for name, one in found.items()}
    return {
        name: figures
        for name, figures in changed.items()
        if figures and found[name].verdict is Verdict.UNDECIDED
    }


def sheet(kept: Kept) -> Sheet:
    """Each of them, with the number of seeds that have its sign."""
    of = readings.by_claim(kept)
    rows = [
        [*readings.names(of[one.claim]), one.red, one.figure.name, one.text,
         f"{one.alike} of {one.seeds}"]
        for one in changes(kept)
    ]  # fmt: skip
    return plain(rows, *readings.HEADS, "ARED", "at", "change", "seeds with its sign")


def _percent(logarithm: float) -> str:
    return f"{signed(f'{100 * math.expm1(logarithm):+.1f}')} %"


def _seeds(known: Sequence[int]) -> str:
    """How many seeds each has: a number, or the fewest and the most."""
    return " to ".join(dict.fromkeys(map(str, (min(known, default=0), max(known, default=0)))))


def numbers(kept: Kept) -> Numbers:
    """How many changes have one sign in all seeds, and how many would if it were a coin's throw.

    within: of these, the changes whose interval contains 0.
    """
    found = changes(kept)
    agreed = [one for one in found if one.alike == one.seeds]
    return {
        "readings": len(undecided(kept)),
        "changes": len(found),
        "seeds": _seeds([one.seeds for one in found]),
        "agreed": len(agreed),
        "within": sum(not one.excludes_0 for one in agreed),
        "by_chance": sum(2 ** (1 - one.seeds) for one in found),
    }
