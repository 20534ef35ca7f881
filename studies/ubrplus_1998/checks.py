# SPDX-License-Identifier: GPL-2.0-only
"""The checks of its claims that no other study has."""

import itertools
from collections.abc import Sequence

from analysis.cells import Levels
from analysis.claims.evidence import Evidence, combinations, words
from analysis.claims.findings import Finding, Side, holds


def interaction_largest(
    evidence: Evidence, *, where: Levels, response: str, factors: Sequence[str]
) -> Finding:
    """The interaction of two factors explains more than that of any other two."""
    named = tuple(factors)

    def percent(draw: Evidence, pair: Sequence[str]) -> float:
        return draw.anova(where, response).component(*pair).percent

    pairs = list(itertools.combinations(evidence.study.anova, 2))
    pairs.sort(key=lambda pair: -percent(evidence, pair))
    figures = []
    for other in (pair for pair in pairs if set(pair) != set(named)):

        def less(draw: Evidence, other: Sequence[str] = other) -> float:
            return percent(draw, named) - percent(draw, other)

        name = f"% of {' and '.join(named)} minus that of {' and '.join(other)}"
        figures.append(evidence.statistic(name, less, Side.ABOVE))
    text = ", ".join(f"{' and '.join(pair)} {percent(evidence, pair):.2f} %" for pair in pairs)
    return Finding(verdict=holds(set(pairs[0]) == set(named)), evidence=text, figures=figures)


def not_always_larger(
    evidence: Evidence, *, response: str, of: Levels, minus: Levels, for_each: Levels
) -> Finding:
    """In at least one combination the difference is below 0, by more than its interval."""
    figures = [
        evidence.difference(words(one), {}, response, {**of, **one}, {**minus, **one})
        for one in combinations(for_each)
    ]
    least = min(figures, key=lambda one: one.measured.difference)
    below = [one for one in figures if one.measured.difference + (one.measured.half_width or 0) < 0]
    text = f"below 0 in {len(below)} of {len(figures)}; least {least.interval}"
    return Finding(verdict=holds(bool(below)), evidence=text, figures=[least])


CHECKS = {check.__name__: check for check in (interaction_largest, not_always_larger)}
BY_VALUES = frozenset({interaction_largest.__name__})
"""Those that compare figures as they are, without an interval (analysis/claims/checks.py)."""
