# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a trial (plan/checks.py), all of them. Pure."""

from __future__ import annotations

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan
from plan.registry import Registry

CHECKS = Registry("harness.judge.checks", "checks")
# In this order, and those of other files after them.
ORDER = ("link", "queues", "losses", "kinds", "flavors", "clock", "captures")


def checks_of(lab: TrialFacts, plan: Plan) -> list[CheckResult]:
    """What all checks of a trial say, in a fixed order."""
    names = [*ORDER, *sorted(CHECKS.kinds.keys() - set(ORDER))]
    found = (attempted(one, lab, plan) for name in names for one in CHECKS[name].checks(plan))
    return [result for result in found if result is not None]


def attempted(one: Check, lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """One check's verdict; it fails where a record has not what it goes by, as an old one may.

    Its name is then that of the function, which is that of the verdict.
    """
    try:
        return one(lab, plan)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        why = f"the record has no {error}" if isinstance(error, KeyError) else f"{error}"
        name = one.__name__.replace("_", " ")
        return {**check(name, None, 0, 0, ""), "why": f"{type(error).__name__}: {why}"}
