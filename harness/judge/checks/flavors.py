# SPDX-License-Identifier: GPL-2.0-only
"""Each pair had the TCP flavor that it was to have."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan


def checks(plan: Plan) -> Sequence[Check]:
    return (flavors,)


def flavors(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Where pairs have flavors in turn: pairs of which a sender had another congestion control
    than its flavor's, and flavors whose no sender was seen with."""
    if not plan.tcp.others:
        return None
    wanted = {flavor.congestion for flavor in plan.tcp.flavors}
    seen = [
        (plan.tcp.of_pair(int(pair)).flavor.congestion, of) for pair, of in lab.congestion.items()
    ]
    wrong = sum(any(name != own for name in of) for own, of in seen)
    unseen = wanted - {own for own, of in seen if own in of}
    return check("flavors", wrong + len(unseen), 0, 0, "pairs")
