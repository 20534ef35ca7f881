# SPDX-License-Identifier: GPL-2.0-only
"""The check of its own beside the engine's: does a response cross another's, seed by seed?

Trials of one seed have the same exchanges, so a ratio is made within each seed. Response times
have heavy tails: the ratios are averaged as logarithms, and the intervals are over the seeds.
"""

from analysis.cells import Levels
from analysis.claims.evidence import Evidence, words
from analysis.claims.findings import (
    Figure,
    Finding,
    NoEvidenceError,
    Side,
    Verdict,
    holds,
    intervals,
    sure_sides,
)


def crosses(
    evidence: Evidence, *, where: Levels, responses: list[str], of: Levels, minus: Levels
) -> Finding:
    """`of` is surely smaller than `minus` in one of the responses, and larger in another.

    It does not hold where all responses surely lie on one side. A quantile of a trial in which too
    many responses never came is infinite: it has no ratio, is named, belongs to the family of
    Holm's rule with a p of 1, and keeps "does not hold" away.
    """
    figures: list[Figure] = []
    infinite: dict[str, NoEvidenceError] = {}
    for response in responses:
        try:
            one = evidence.difference(response, where, response, of, minus, relative=True)
            figures.append(one)
        except NoEvidenceError as error:
            infinite[response] = error
    if not figures:  # no cell, rather than no value
        raise infinite[responses[0]]
    sides = set(sure_sides(figures, len(infinite)))
    verdict = holds({Side.BELOW, Side.ABOVE} <= sides)
    if verdict is Verdict.FAILS and (Side.NEITHER in sides or infinite):
        verdict = Verdict.UNDECIDED
    text = f"{words(of)} in place of {words(minus)}: {intervals(figures, len(infinite))}"
    return Finding(
        verdict=verdict,
        evidence=f"{text}; infinite in a trial: {', '.join(infinite)}" if infinite else text,
        figures=figures,
    )


CHECKS = {crosses.__name__: crosses}
