# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a fidelity check. Trials whose checks fail have meaningless figures. Pure.

A check gets the counts of a lab and the plan of the trial. It returns the expected value, the
measured value and the limit of their difference. If a check does not apply to the trial, it returns
None. A trial with one failed check is invalid. The checks of a workload or a delay are in its
folder. All other checks are in harness/judge/checks/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plan.facts import TrialFacts
from plan.plan import Plan

# A record stores these keys: name, ok, measured, expected, limit, unit.
CheckResult = dict[str, Any]
# The name in the result is the function's __name__ with spaces.
Check = Callable[[TrialFacts, Plan], CheckResult | None]

RTT_LIMIT_NS = 10_000
# Limits for a lab whose clock runs on while the lab computes; docs/labs.md has the measurements.
REAL_RTT_LIMIT_NS = 100_000
REAL_LATE_LIMIT_NS = 10_000_000


def check(name: str, measured: Any, expected: Any, limit: float, unit: str) -> CheckResult:
    """Return one verdict: |measured - expected| <= limit. A missing measurement fails."""
    ok = measured is not None and abs(measured - expected) <= limit
    return {
        "name": name,
        "ok": ok,
        "measured": measured,
        "expected": expected,
        "limit": limit,
        "unit": unit,
    }
