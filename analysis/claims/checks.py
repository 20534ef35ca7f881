# SPDX-License-Identifier: GPL-2.0-only
"""The checks that a claim can name, each giving a verdict, its evidence, and its figures.

A check is a function of the evidence and of the claim's parameters (its keyword arguments, all
from the claims' file). One vocabulary of parameters:

    where             the cells that are meant, as levels of factors; than: those compared with
    with_any, without of them those in which a metric is above 0 in some trial, or in none
    response          a metric of the trials
    of, minus         levels whose means are subtracted; for_each: for each combination of these
    factor, level(s)  of an analysis of variance of the cells that are meant
    at_least, at_most, within, limit, share, percent    bounds
    relative          bounds are of the ratio, less 1

Bounds on means and differences are judged by 95 % intervals over the seeds, several of a claim
with Holm's adjustment.
"""

from collections.abc import Callable

from analysis.claims import anova_checks as anova
from analysis.claims import mean_checks as means
from analysis.claims.evidence import Evidence
from analysis.claims.findings import Finding, Verdict, all_of, holds
from analysis.claims.mean_checks import known_means, need

Check = Callable[..., Finding]

__all__ = ["CHECKS", "Check", "all_of", "holds", "known_means", "need"]


def not_in_the_testbed(evidence: Evidence, *, lacks: str) -> Finding:
    """A sentence about what the testbed has not."""
    del evidence
    return Finding(verdict=Verdict.UNDECIDED, evidence=f"not measured: {lacks}")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        anova.factor_rank,
        anova.share_at_most,
        anova.share_larger,
        anova.separated,
        anova.overlap,
        anova.ordered,
        anova.extreme,
        anova.effects_within,
        anova.spread_at_most,
        anova.spread_larger,
        anova.gap_grows,
        anova.share_ratio_grows,
        means.difference,
        means.mostly_positive,
        means.gain,
        means.gain_larger,
        means.mean_larger,
        means.mean_bounded,
        means.each_bounded,
        means.share_below,
        means.grows,
        not_in_the_testbed,
    )
}
"""Names that `check` in a file of claims can have, whatever the study."""

BY_VALUES = frozenset(
    check.__name__
    for check in (
        anova.factor_rank,
        anova.share_at_most,
        anova.share_larger,
        anova.spread_at_most,
        anova.spread_larger,
        anova.gap_grows,
        anova.share_ratio_grows,
        means.mostly_positive,
        means.share_below,
        means.grows,
    )
)
"""Those that compare figures as they are: however many seeds there are, no interval decides."""
