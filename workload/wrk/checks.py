# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a closed loop."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClosedLoopFacts(SourceFacts):
    """failed_calls: failed system calls of all clients, and answers with an error."""

    failed_calls: int


def answers(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count failed calls, answers with an error, and clients with wrong bytes."""
    source = lab.source.known_by(ClosedLoopFacts)
    wrong = source.failed_calls + sum(rest != 0 for rest in source.unexplained_bytes)
    return check("answers", wrong, 0, 0, "answers")
