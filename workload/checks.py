# SPDX-License-Identifier: GPL-2.0-only
"""Fidelity checks (plan/checks.py) that several workloads use. Each workload names its checks.

A check fails if the record lacks its facts.
"""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import REAL_LATE_LIMIT_NS, CheckResult, check
from plan.facts import TrialFacts
from plan.plan import Plan

# In virtual time, a request is late only because reading the clock takes time.
LATE_LIMIT_NS = 100_000


def requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count requests that were not sent or failed, and flows with unexplained bytes.

    A client's kernel receives headers, whole files, a part of the current file, and data that the
    client has not read yet. The client and the kernel count independently, and the sizes of the
    files are known from the requests.
    """
    return wrong_requests(lab, plan, lab.source.unexplained_bytes)


def wrong_requests(lab: TrialFacts, plan: Plan, flows: Sequence[int]) -> CheckResult:
    """Do the same as requests() with other values for the pairs' flows; 0 is a correct flow."""
    source = lab.source
    if len(flows) != plan.topology.pairs:
        return check("requests", None, 0, 0, "requests")
    met = source.answered + source.outstanding + source.unsent
    wrong = abs(source.offered - met) + source.unsent + source.bad_status
    wrong += len(source.broken) if source.has("broken") else 0
    wrong += sum(rest != 0 for rest in flows)
    return check("requests", wrong, 0, 0, "requests")


def server_errors(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Count lines in the servers' error logs."""
    return check("server errors", len(lab.source.server_complaints), 0, 0, "lines")


def receiver_window(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Compare the last window that each sender got with the plan's window.

    A receiver rounds its free space down to whole segments.
    """
    told = lab.source.peer_window_bytes
    known = [window for window in told if window is not None]
    return farthest_window(known if len(known) == len(told) == plan.topology.pairs else [], plan)


def farthest_window(windows: Sequence[int], plan: Plan) -> CheckResult:
    """Check the window that differs most; without windows, the measurement is missing."""
    wanted = plan.tcp.window_bytes
    worst = max(windows, key=lambda window: abs(window - wanted), default=None)
    return check("receiver window", worst, wanted, plan.topology.mss_bytes - 1, "bytes")


def late_requests(lab: TrialFacts, plan: Plan) -> CheckResult:
    """Check the largest delay between a request's due time and its sending."""
    limit = LATE_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("late requests", lab.source.max_late_ns, 0, limit, "ns")
