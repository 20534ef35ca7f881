# SPDX-License-Identifier: GPL-2.0-only
"""The part that the parameters of all workloads have in common (workload/source.py)."""

from __future__ import annotations

from typing import Protocol


class Workload(Protocol):
    """The parameters of a workload. All workloads have a duration [s]."""

    @property
    def duration_s(self) -> float: ...


def measure_from_s(workload: Workload) -> float:
    """Return the start of the measured interval [s]; 0 if the workload has no such interval."""
    return float(getattr(workload, "measure_from_s", 0))
