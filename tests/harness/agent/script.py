# SPDX-License-Identifier: GPL-2.0-only
"""Runs a script of this folder in a small `uml` lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit

LIMIT_S = 300.0


def told(name: str, folder: Path) -> dict[str, Any]:
    """What the script says of the lab that runs in a folder: the object of JSON that it writes."""
    script = f"/cellbed/tests/harness/agent/{name}"
    main = f"exec python3 -B {script} /run/cellbed/result.json"
    with UmlLab(LabSpec(pairs=0, memory_mib=512, main=main), folder) as lab:
        wait_for_exit(lab, LIMIT_S)
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result
