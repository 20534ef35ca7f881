# SPDX-License-Identifier: GPL-2.0-only
"""What parts of the variation its factors explain: of all trials, without BBR, and by the seeds.

A share has no t interval, because it is one figure of all trials together. The jackknife leaves
each seed out once. The figure of n seeds, t, and those without seed i, t_i, give the interval

    t ± t[0.975; n - 1] * sqrt((n - 1) / n * sum of (t_i - mean of t_i)^2)

Source: J. Tukey, Bias and Confidence in Not-Quite Large Samples, Annals of Mathematical Statistics
29 (1958), page 614.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from scipy import stats

from analysis.anova import analyse
from analysis.kept import Kept
from analysis.report.sentences import Number, Numbers
from analysis.statistics import CONFIDENCE, Estimate
from analysis.table import Row, Table

CAMPAIGN = "leo"
FACTORS = ("sender", "buffer", "policy")
LIMIT = 1.0
"""The largest share of the policy under which it has no "much effect" (claims.toml) [%]."""


def percent(trials: Table, response: str, *factors: str) -> float:
    """The part of the variation that a factor, or the interaction of several, explains [%]."""
    return analyse(trials, response, FACTORS).component(*factors).percent


def all_trials(kept: Kept) -> dict[str, Number]:
    """Of both responses: three factors or interactions, and the policy [%]."""
    trials = kept.table(CAMPAIGN, "trials")
    shown = (("sender",), ("buffer",), ("sender", "buffer"), ("sender", "policy"))
    return {
        f"{begin}{'_'.join(names)}_percent": percent(trials, response, *names)
        for response, begin in (("efficiency", ""), ("fairness", "fair_"))
        for names in shown
    }


def without_bbr(kept: Kept) -> dict[str, Number]:
    """The parts of the fairness's variation over the three other senders [%]."""
    trials = having(kept.table(CAMPAIGN, "trials"), lambda row: row["sender"] != "BBR")
    return {
        f"others_{factor}_percent": percent(trials, "fairness", factor)
        for factor in ("sender", "policy")
    }


def intervals(kept: Kept) -> Numbers:
    """The figures of the three verdicts on shares, each with its jackknife interval [%]."""
    trials = kept.table(CAMPAIGN, "trials")
    figures: dict[str, Callable[[Table], float]] = {
        "efficiency": lambda some: sender_less_policy(some, "efficiency"),
        "fairness": lambda some: sender_less_policy(some, "fairness"),
        "policy": lambda some: percent(some, "fairness", "policy"),
    }
    found: dict[str, Number] = {"seeds": len(trials.levels("seed")), "limit": LIMIT}
    for name, figure in figures.items():
        one = jackknife(trials, figure)
        found |= {name: one.mean, f"{name}_half": one.half_width, f"{name}_low": one.low}
    return found


def sender_less_policy(trials: Table, response: str) -> float:
    """How much more of the variation the sender explains than the drop policy [%]."""
    return percent(trials, response, "sender") - percent(trials, response, "policy")


def jackknife(trials: Table, figure: Callable[[Table], float]) -> Estimate:
    """A figure of all trials, with its interval over the seeds. Needs two seeds or more."""
    seeds = trials.levels("seed")
    left = [figure(having(trials, _is_not(seed))) for seed in seeds]
    n, whole, centre = len(seeds), figure(trials), math.fsum(left) / len(left)
    error = math.sqrt((n - 1) / n * math.fsum((one - centre) ** 2 for one in left))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    return Estimate(n=n, mean=whole, low=whole - half, high=whole + half)


def having(trials: Table, wanted: Callable[[Row], bool]) -> Table:
    """The rows that are wanted."""
    return replace(trials, rows=tuple(filter(wanted, trials.rows)))


def _is_not(seed: str) -> Callable[[Row], bool]:
    return lambda row: row["seed"] != seed
