# SPDX-License-Identifier: GPL-2.0-only
"""Nothing is missing in what was captured (harness/capture.py: missing())."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import CAPTURES, Plan


def checks(plan: Plan) -> Sequence[Check]:
    return [capture(kind) for kind in CAPTURES.kinds]


def capture(kind: str) -> Check:
    """What a kind of capture should have and has not."""
    found = CAPTURES[kind].Capture

    def captured(lab: TrialFacts, plan: Plan) -> CheckResult | None:
        missing = found.missing(lab)
        return None if missing is None else check(found.check, missing, 0, 0, found.unit)

    captured.__name__ = found.check
    return captured
