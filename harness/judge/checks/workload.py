# SPDX-License-Identifier: GPL-2.0-only
"""What the trial's workload is held to (workload/source.py: Source.checks)."""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check
from plan.plan import WORKLOADS, Plan


def checks(plan: Plan) -> Sequence[Check]:
    found: Sequence[Check] = WORKLOADS[WORKLOADS.name_of(plan.workload)].Source.checks
    return found
