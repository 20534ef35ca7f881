# SPDX-License-Identifier: GPL-2.0-only
"""The end of each script that runs inside a lab for a test: its job read, its result written.

Usage of such a script: NAME.py JOB.json RESULT.json (tests/flavors/runner.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.agent.power_off import power_off


def answer(run: Callable[[Any], Any]) -> None:
    """Write what `run` makes of the job, or {"error": one line}, and end the lab."""
    try:
        result = run(json.loads(Path(sys.argv[1]).read_text()))
    except Exception as error:  # noqa: BLE001 (told to the test)
        result = {"error": f"{type(error).__name__}: {error}"}
    Path(sys.argv[2]).write_text(json.dumps(result))
    power_off()
