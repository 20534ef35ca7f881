# SPDX-License-Identifier: GPL-2.0-only
"""What the trial's delay is held to (topology/delay.py: Delay.checks)."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check
from plan.plan import DELAYS, Plan


def checks(plan: Plan) -> Sequence[Check]:
    found: Sequence[Check] = DELAYS[plan.topology.delay].Delay.checks
    return found
