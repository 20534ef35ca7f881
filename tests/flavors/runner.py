# SPDX-License-Identifier: GPL-2.0-only
"""What runs in a lab: connections, by a fixture of this type, or a script of this folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.exact_loss import host as exact_loss
from harness.host import paths
from harness.labs.base import Lab, LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from harness.labs.vm import QEMU

Runner = Callable[[Sequence[exact_loss.Connection], exact_loss.Link], list[exact_loss.Outcome]]
LIMIT_S = 300.0
NEEDS_VM = pytest.mark.skipif(
    not (paths.places()["vm"] / "complete").exists() or shutil.which(QEMU) is None,
    reason="the vm lab is not set up: ./cellbed setup --vm",
)


def run_script(
    name: str, job: Any, folder: Path, memory_mib: int = 1024, lab: type[Lab] = UmlLab
) -> Any:
    """What a script of tests/flavors makes of a job in a lab; job and result are JSON."""
    (folder / "job.json").write_text(json.dumps(job))
    files = "/run/cellbed/job.json /run/cellbed/result.json"
    main = f"exec python3 -B /cellbed/tests/flavors/{name} {files}"
    with lab(LabSpec(pairs=0, memory_mib=memory_mib, main=main), folder) as booted:
        wait_for_exit(booted, LIMIT_S)
    result = json.loads((folder / "result.json").read_text())
    assert "error" not in result, result
    return result
