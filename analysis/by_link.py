# SPDX-License-Identifier: GPL-2.0-only
"""The series of each named middle link: its downward queue, and the bytes that it has carried."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.records import Record

Values = NDArray[np.float64]
SECOND_NS = 1e9


def column(record: Record, table: str, port: str, name: str) -> tuple[Values, Values]:
    """Moments [s] since the trial's start, and a column of a table at these moments, of one port.

    Both are empty if the record lacks the table.
    """
    rows = [row for row in record.series(table) or () if row["port"] == port]
    times, values = ([float(row[key] or 0) for row in rows] for key in ("time_ns", name))
    return np.array(times) / SECOND_NS, np.array(values)


def queue(record: Record, port: str) -> tuple[Values, Values]:
    """Moments [s], and the packets that waited in a queue; empty if it was not sampled."""
    return column(record, "queue", port, "backlog_packets")


def carried(record: Record, port: str) -> tuple[Values, Values]:
    """Moments [s], and the bytes of IP packets that left a queue by then."""
    return column(record, "links", port, "ip_bytes")
