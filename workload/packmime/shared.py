# SPDX-License-Identifier: GPL-2.0-only
"""Where a trace is that host and lab share: all trials of a load and seed have the same."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from .parameters import Parameters


def trace_path(folder: Path, params: Parameters, seed: int) -> Path:
    """Return the trace's place in the folder that both see."""
    text = json.dumps([asdict(params), seed], sort_keys=True)
    return folder / f"packmime-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
