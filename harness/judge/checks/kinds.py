# SPDX-License-Identifier: GPL-2.0-only
"""What the trial's workload and its delay are held to: their own checks, which lie with them.

Source.checks of workload/source.py, and Delay.checks of topology/delay.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from plan.checks import Check
from plan.plan import DELAYS, WORKLOADS, Plan


def checks(plan: Plan) -> Sequence[Check]:
    workload = WORKLOADS[WORKLOADS.name_of(plan.workload)].Source
    return *workload.checks, *DELAYS[plan.topology.delay].Delay.checks
