# SPDX-License-Identifier: GPL-2.0-only
"""segments.csv and stalls.csv: written by the client, read by the source.

Times are in nanoseconds since time 0 of the trial. What did not happen is an empty cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeVar

SEGMENTS, STALLS = "segments.csv", "stalls.csv"


@dataclass(kw_only=True)
class Segment:
    """A request for a segment.

    Attributes:
        level: from 0, the lowest.
        bytes: the size of the segment's file.
        due_ns: when the buffer had room for it.
        buffer_ns: the video in the buffer at the request.
    """

    pair: int
    segment: int
    level: int
    bytes: int
    due_ns: int
    requested_ns: int
    buffer_ns: int
    first_byte_ns: int | None = None
    last_byte_ns: int | None = None


@dataclass(frozen=True, kw_only=True)
class StallRow:
    """A stall of a pair's player; end_ns: None if it lasts until the end of the trial."""

    pair: int
    begin_ns: int
    end_ns: int | None


Row = TypeVar("Row", Segment, StallRow)


def write(path: Path, kind: type[Row], rows: Iterable[Row]) -> None:
    """Write a table; its columns are the fields of the rows."""
    with path.open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(field.name for field in fields(kind))
        table.writerows(astuple(row) for row in rows)


def read(path: Path, kind: type[Row]) -> Sequence[Row]:
    """Return the rows of a table that write() wrote."""
    with path.open(newline="", encoding="ascii") as stream:
        return [
            kind(**{name: int(cell) if cell else None for name, cell in row.items()})  # type: ignore[arg-type]
            for row in csv.DictReader(stream)
        ]
