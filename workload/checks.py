# SPDX-License-Identifier: GPL-2.0-only
"""Fidelity checks (plan/checks.py) of several workloads: each names those that it is held to.

One whose facts a record does not have fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import REAL_LATE_LIMIT_NS, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan

# In virtual time a request is late only by the clock's own reading costs.
LATE_LIMIT_NS = 100_000


def requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Requests that were not sent or came back wrong, and flows with bytes unaccounted for.

    What each client's kernel received is headers, the files answered, the part of the one
    under way, and what the client has not read yet; the client counts the one, the kernel
    the other, and the files' sizes are those asked for.
    """
    return wrong_requests(lab, plan, lab.source.unexplained_bytes)


def wrong_requests(lab: TrialFacts, plan: Plan, flows: Sequence[int]) -> CheckResult:
    """requests(), with another account of each pair's flows: 0 where it is right."""
    source = lab.source
    if len(flows) != plan.topology.pairs:
        return check("requests", None, 0, 0, "requests")
    met = source.answered + source.outstanding + source.unsent
    wrong = abs(source.offered - met) + source.unsent + source.bad_status
    wrong += len(source.broken) if source.has("broken") else 0
    wrong += sum(rest != 0 for rest in flows)
    return check("requests", wrong, 0, 0, "requests")


def server_errors(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Lines in the servers' error logs."""
    return check("server errors", len(lab.source.server_complaints), 0, 0, "lines")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The window that each sender was last told, against the plan's.

    A receiver rounds what it has left down to whole segments.
    """
    told = lab.source.peer_window_bytes
    known = [window for window in told if window is not None]
    return farthest_window(known if len(known) == len(told) == plan.topology.pairs else [], plan)


def farthest_window(windows: Sequence[int], plan: Plan) -> CheckResult:
    """Of these windows the one that is furthest off; none is no measurement."""
    wanted = plan.tcp.window_bytes
    worst = max(windows, key=lambda window: abs(window - wanted), default=None)
    return check("receiver window", worst, wanted, plan.topology.mss_bytes - 1, "bytes")


def late_requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """The latest request against its due time."""
    limit = LATE_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("late requests", lab.source.max_late_ns, 0, limit, "ns")
