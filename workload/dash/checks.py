# SPDX-License-Identifier: GPL-2.0-only
"""The checks of trials with video, beside those of requests (workload/checks.py)."""

from __future__ import annotations

from dataclasses import dataclass

from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DashFacts(SourceFacts):
    """What only this workload knows; a list has one value for each pair.

    Attributes:
        unlike_buffers: rows of segments.csv and stalls.csv that replay.py computes otherwise, and
            requests that are missing.
        unlike_levels: rows of segments.csv with another level than the rule's.
    """

    unlike_buffers: tuple[int, ...]
    unlike_levels: tuple[int, ...]


def buffers(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the players' buffers, stalls and moments of requests with those of replay.py."""
    found = lab.source.known_by(DashFacts).unlike_buffers
    whole = len(found) == plan.topology.pairs
    return check("buffers", sum(found) if whole else None, 0, 0, "rows")


def levels(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the level of each segment with the level that the rule chooses by segments.csv."""
    found = lab.source.known_by(DashFacts).unlike_levels
    whole = len(found) == plan.topology.pairs
    return check("levels", sum(found) if whole else None, 0, 0, "rows")
