# SPDX-License-Identifier: GPL-2.0-only
"""What a workload needs in a lab and only the host can make (workload/source.py: ON_HOST)."""

from __future__ import annotations

import importlib
from pathlib import Path

from plan.errors import LabError
from plan.plan import WORKLOADS, Plan


def prepare(plan: Plan, folder: Path) -> None:
    """Make it in the lab's run directory; nothing for most workloads.

    Raises:
        LabError: it cannot be made; in a sentence.
    """
    kind = WORKLOADS[WORKLOADS.name_of(plan.workload)]
    if not hasattr(kind, "ON_HOST"):
        return
    try:
        importlib.import_module(kind.ON_HOST).share(plan, folder)
    except ValueError as error:
        raise LabError(str(error)) from error
