# SPDX-License-Identifier: GPL-2.0-only
"""Labs: where the privileged half runs. One interface, one file an implementation.

A file of this folder with a LAB, which is made of a LabSpec and a run directory, is one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.labs.base import Event, Lab, LabSpec
from harness.labs.native import NativeLab
from harness.labs.uml import UmlLab
from harness.labs.vm import VmLab
from plan.registry import Registry

KINDS = Registry(__name__, "LAB", among_others=True).kinds
LABS: dict[str, Callable[[LabSpec, Path], Lab]] = {name: kind.LAB for name, kind in KINDS.items()}

__all__ = ["LABS", "Event", "Lab", "LabSpec", "NativeLab", "UmlLab", "VmLab"]
