# SPDX-License-Identifier: GPL-2.0-only
"""The lines of a qlog file: JSON text sequences (RFC 7464), as qlog 0.3 has them (JSON-SEQ)."""

from __future__ import annotations

import json
from typing import Any

SEPARATOR = "\x1e"


def line(found: dict[str, Any]) -> str:
    """Return one event, or the head, as qlog's file has it."""
    return f"{SEPARATOR}{as_line(found)}\n"


def header(program: str, end: str, group: str, version: str) -> dict[str, Any]:
    """Return the head of a file: the program, which end it is, the connection's first id."""
    fields = {
        "protocol_type": ["QUIC"], "time_format": "relative", "reference_time": 0,
        "group_id": group,
    }  # fmt: skip
    trace = {"vantage_point": {"name": program, "type": end}, "common_fields": fields}
    return {"qlog_format": "JSON-SEQ", "qlog_version": version, "trace": trace}


def as_line(found: Any) -> str:
    """Return plain JSON types in one line."""
    return json.dumps(found, separators=(",", ":"))
