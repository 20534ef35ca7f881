# SPDX-License-Identifier: GPL-2.0-only
"""What the agent says to the harness: one JSON object a line in the run directory."""

from __future__ import annotations

import json
import time
from pathlib import Path

RUN = Path("/run/cellbed")


def emit(event: str, **fields: object) -> None:
    """Append an event; `virtual_s` is the lab's monotonic clock [s]."""
    line = json.dumps({"event": event, "virtual_s": time.monotonic(), **fields})
    with (RUN / "events.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
