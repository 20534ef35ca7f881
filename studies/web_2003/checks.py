# SPDX-License-Identifier: GPL-2.0-only
"""The check of its own beside the engine's: does a response cross another's, seed by seed?

Trials of one seed have the same exchanges, so a ratio is made within each seed. Response times
have heavy tails: the ratios are averaged as logarithms, and the intervals are over the seeds.
"""

from analysis.cells import Levels
from analysis.claims.evidence import Evidence, words
from analysis.claims.findings import Finding, Side, Verdict, holds, intervals, sure_sides


def crosses(
    evidence: Evidence, *, where: Levels, responses: list[str], of: Levels, minus: Levels
) -> Finding:
    """`of` is surely smaller than `minus` in one of the responses, and larger in another.

    It does not hold where all responses surely lie on one side.
    """
    figures = [
        evidence.difference(response, where, response, of, minus, relative=True)
        for response in responses
    ]
    sides = set(sure_sides(figures))
    verdict = holds({Side.BELOW, Side.ABOVE} <= sides)
    if verdict is Verdict.FAILS and Side.NEITHER in sides:
        verdict = Verdict.UNDECIDED
    return Finding(
        verdict=verdict,
        evidence=f"{words(of)} to {words(minus)}: {intervals(figures)}",
        figures=figures,
    )


CHECKS = {crosses.__name__: crosses}
