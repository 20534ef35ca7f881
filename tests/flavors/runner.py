# SPDX-License-Identifier: GPL-2.0-only
"""What runs in a lab: connections, by a fixture of this type, or a script of this folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.exact_loss import host as exact_loss
from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit

Runner = Callable[[Sequence[exact_loss.Connection], exact_loss.Link], list[exact_loss.Outcome]]
LIMIT_S = 300.0


def run_script(name: str, job: Any, folder: Path, memory_mib: int = 1024) -> Any:
    """What a script of tests/flavors makes of a job; both are JSON."""
    (folder / "job.json").write_text(json.dumps(job))
    files = "/run/cellbed/job.json /run/cellbed/result.json"
    main = f"exec python3 -B /cellbed/tests/flavors/{name} {files}"
    with UmlLab(LabSpec(pairs=0, memory_mib=memory_mib, main=main), folder) as lab:
        wait_for_exit(lab, LIMIT_S)
    result = json.loads((folder / "result.json").read_text())
    assert "error" not in result, result
    return result
