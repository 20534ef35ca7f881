# SPDX-License-Identifier: GPL-2.0-only
"""The table of round trips: one line for each connection."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

MAX_ROUND_TRIP_NS = 100_000_000_000


class Entry(NamedTuple):
    """A connection (its client's address and both ports), and its round trip [ns]."""

    client_address: str
    client_port: int
    server_port: int
    round_trip_ns: int


def write(path: Path, entries: Iterable[Entry]) -> int:
    """Write the table; return the number of its lines.

    Raises:
        ValueError: a round trip is not in 0 to 100 s.
    """
    lines = [_line(entry) for entry in entries]
    path.write_text("".join(lines), encoding="ascii")
    return len(lines)


def _line(entry: Entry) -> str:
    if not 0 <= entry.round_trip_ns <= MAX_ROUND_TRIP_NS:
        raise ValueError(
            f"the round trip of {entry.client_address}:{entry.client_port} is"
            f" {entry.round_trip_ns} ns; allowed are 0 to {MAX_ROUND_TRIP_NS}"
        )
    return " ".join(map(str, entry)) + "\n"
