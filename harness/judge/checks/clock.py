# SPDX-License-Identifier: GPL-2.0-only
"""A lab whose clock runs on while it computes kept time.

In the uml lab's virtual time nothing can be late, and there is nothing to check.
"""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan

LATE_DEPARTURES_SHARE = 0.02
STALL_LIMIT_NS = 10_000_000
CLOCK_STEP_LIMIT_NS = 1_000_000


def checks(plan: Plan) -> Sequence[Check]:
    return late_departures, stalls, clock_step


def late_departures(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """Frames whose departure time was past when the queue gave it, as a share of all."""
    if lab.exact:
        return None
    queues = plan.topology.layout().queues().items()
    late = [plan.queue.at(way).late(lab.queue[name]) for name, (_, way) in queues]
    counts = [found for found in late if found is not None]
    if not counts:
        return None
    share = sum(late for late, _ in counts) / max(1, sum(frames for _, frames in counts))
    return check("late departures", share, 0, LATE_DEPARTURES_SHARE, "of the frames")


def stalls(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """How late a sleeping thread woke: the 99th percentile over the trial."""
    if lab.exact:
        return None
    seen = lab.realtime
    return check("stalls", seen and seen.stall_p99_ns, 0, STALL_LIMIT_NS, "ns")


def clock_step(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """How far the wall clock was set during the trial."""
    if lab.exact:
        return None
    seen = lab.realtime
    return check("clock step", seen and seen.clock_step_ns, 0, CLOCK_STEP_LIMIT_NS, "ns")
