# SPDX-License-Identifier: GPL-2.0-only
"""On the host: draws a trial's trace, unless one before it had the same."""

from pathlib import Path
from typing import Any

from .shared import trace_path
from .write import write


def share(plan: Any, folder: Path) -> None:
    """Have the trace of a plan (plan/plan.py) in the folder; WorkloadError as write()."""
    topology = plan.topology
    params = plan.workload.trace(topology.rate_bit_per_s, topology.mss_bytes)
    path = trace_path(folder, params, plan.seed)
    if not path.exists():
        write(path, params, plan.seed)
