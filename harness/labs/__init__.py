# SPDX-License-Identifier: GPL-2.0-only
"""Labs: where the privileged half runs. One interface, one file an implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.labs.base import Event, Lab, LabSpec
from harness.labs.native import NativeLab
from harness.labs.uml import UmlLab
from harness.labs.vm import VmLab

LABS: dict[str, Callable[[LabSpec, Path], Lab]] = {
    "uml": UmlLab,
    "vm": VmLab,
    "native": NativeLab,
}

__all__ = ["LABS", "Event", "Lab", "LabSpec", "NativeLab", "UmlLab", "VmLab"]
