# SPDX-License-Identifier: GPL-2.0-only
"""What every workload's parameters have, whatever its kind (workload/source.py)."""

from __future__ import annotations

from typing import Protocol


class Workload(Protocol):
    """A workload's parameters; there is a duration [s] in each."""

    @property
    def duration_s(self) -> float: ...


def measure_from_s(workload: Workload) -> float:
    """When the measured interval begins, of a workload that has one; else 0 [s]."""
    return float(getattr(workload, "measure_from_s", 0))
