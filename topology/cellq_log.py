# SPDX-License-Identifier: GPL-2.0-only
"""Converts the files of `cellq record` (structs: bpf/cellq.h) to the tables of a record."""

from __future__ import annotations

import csv
import struct
from collections.abc import Iterator
from pathlib import Path

from topology.clock import TIMER_GRAIN_NS

MAGIC = b"cellqrec"
VERSION = 1
HEADER = struct.Struct("<8sII")
FRAME, DROP, SAMPLE = 1, 2, 3
LAYOUTS = {
    FRAME: struct.Struct("<BBHIQQQQ"),
    DROP: struct.Struct("<BBHIQIIIIQ"),
    SAMPLE: struct.Struct("<BxHIQ"),
}
# The fields of each type of record that are times of the lab's clock.
TIMES = {FRAME: (5, 6, 7), DROP: (4,), SAMPLE: (3,)}
CAUSES = ("delivered", "refused_threshold", "refused_fairness", "lost_first", "lost_mid")
QUEUE_COLUMNS = ("time_ns", "port", "occupancy_cells", "active_vcs")
DROP_COLUMNS = (
    "time_ns", "port", "vc", "frame_cells", "cause", "occupancy_cells", "vc_cells",
)  # fmt: skip


def records(path: Path) -> Iterator[tuple[int, ...]]:
    """Yield the fields of each record in a file; the first field is the type.

    Raises:
        ValueError: the file has another format or version, or it is cut short.
    """
    data = path.read_bytes()
    if len(data) < HEADER.size:
        raise ValueError(f"{path} is cut short: it has only {len(data)} bytes")
    magic, version, offset = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise ValueError(f"{path} is not a record that cellq wrote in version {VERSION}")
    while offset < len(data):
        layout = LAYOUTS.get(data[offset])
        if layout is None or offset + layout.size > len(data):
            raise ValueError(f"{path} is damaged at byte {offset}")
        yield layout.unpack_from(data, offset)
        offset += layout.size


def as_first(data: bytes, t0_ns: int) -> bytes:
    """Return a file with its times as in the first trial of a lab; `t0_ns` is the trial's time 0.

    Each trial begins at a multiple of TIMER_GRAIN_NS. So a later trial's times are later by a
    multiple of TIMER_GRAIN_NS, which this function subtracts.
    """
    later_ns = max(0, t0_ns // TIMER_GRAIN_NS - 1) * TIMER_GRAIN_NS
    found, offset = bytearray(data), int(HEADER.unpack_from(data)[2])
    while later_ns and offset < len(data):
        layout = LAYOUTS[data[offset]]
        fields = list(layout.unpack_from(data, offset))
        for place in TIMES[data[offset]]:
            fields[place] -= later_ns if fields[place] else 0  # 0: no time
        layout.pack_into(found, offset, *fields)
        offset += layout.size
    return bytes(found)


def whole(data: bytes) -> bytes:
    """Return a growing file up to its last complete record; b"" before its header is complete."""
    if len(data) < HEADER.size:
        return b""
    end = int(HEADER.unpack_from(data)[2])
    while end < len(data) and end + (size := LAYOUTS[data[end]].size) <= len(data):
        end += size
    return data[:end] if end <= len(data) else b""


def write_tables(files: dict[str, Path], t0_ns: int, queue: Path, drops: Path) -> None:
    """Write queue.csv and drops.csv from the ports' files. Times [ns] count from time 0."""
    with (
        queue.open("w", newline="", encoding="ascii") as queue_stream,
        drops.open("w", newline="", encoding="ascii") as drop_stream,
    ):
        queue_table, drop_table = csv.writer(queue_stream), csv.writer(drop_stream)
        queue_table.writerow(QUEUE_COLUMNS)
        drop_table.writerow(DROP_COLUMNS)
        for port, path in files.items():
            for record in records(path):
                if record[0] == SAMPLE and record[3] >= t0_ns:
                    _, active, occupancy, time_ns = record
                    queue_table.writerow((time_ns - t0_ns, port, occupancy, active))
                elif record[0] == DROP:
                    _, cause, vc, cells, time_ns, occupancy, vc_cells, *_ = record
                    drop_table.writerow(
                        (time_ns - t0_ns, port, vc, cells, CAUSES[cause], occupancy, vc_cells)
                    )
