# SPDX-License-Identifier: GPL-2.0-only
"""What persistent sources are held to."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PersistentFacts(SourceFacts):
    """idle_sources: those with nothing to send at the end of the measured interval."""

    idle_sources: int


def idle_sources(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Persistent sources that had nothing to send at the end of the measured interval."""
    found = lab.source.known_by(PersistentFacts).idle_sources
    return check("idle sources", found, 0, 0, "sources")
