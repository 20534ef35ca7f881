# SPDX-License-Identifier: GPL-2.0-only
"""What a fidelity check is: what must hold for a trial's figures to mean anything. Pure.

A check takes what a lab counted and the trial's plan, and says what was expected, what was measured
and how far apart the two may be; or None, where the trial has nothing of the kind. A trial with
one failed check is invalid. Those of a workload and of a delay lie with them, all others in
harness/judge/checks/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plan.facts import TrialFacts
from plan.plan import Plan

# As it stands in a record: name, ok, measured, expected, limit, unit.
CheckResult = dict[str, Any]
# Its __name__, with blanks, is that of what it returns.
Check = Callable[[TrialFacts, Plan], CheckResult | None]

RTT_LIMIT_NS = 10_000
# Where the clock runs on while the lab computes; docs/labs.md has the measurements.
REAL_RTT_LIMIT_NS = 100_000
REAL_LATE_LIMIT_NS = 10_000_000


def check(name: str, measured: Any, expected: Any, limit: float, unit: str) -> CheckResult:
    """One verdict: |measured - expected| <= limit; a missing measurement fails."""
    ok = measured is not None and abs(measured - expected) <= limit
    return {
        "name": name,
        "ok": ok,
        "measured": measured,
        "expected": expected,
        "limit": limit,
        "unit": unit,
    }
