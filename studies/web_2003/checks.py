# SPDX-License-Identifier: GPL-2.0-only
"""The checks of its claims: one cell's response over another's, seed by seed.

Trials of one seed have the same exchanges, so a ratio is made within each seed. Response times
have heavy tails: the ratios are averaged as logarithms, and the intervals are over the seeds.
"""

from typing import Any

from analysis.cells import Levels
from analysis.claims.evidence import Evidence, words
from analysis.claims.findings import Finding, Side, Verdict, holds, intervals, sure_sides
from analysis.claims.mean_checks import difference


def relative(
    evidence: Evidence,
    *,
    where: Levels,
    response: str,
    of: Levels,
    minus: Levels,
    for_each: Levels,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Finding:
    """By how much `of` is larger than `minus`, as a share of it, keeps the bounds for each."""
    bounds: dict[str, Any] = {"at_least": at_least, "at_most": at_most}
    return difference(
        evidence,
        where=where,
        response=response,
        of=of,
        minus=minus,
        for_each=for_each,
        relative=True,
        **bounds,
    )


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


CHECKS = {check.__name__: check for check in (relative, crosses)}
