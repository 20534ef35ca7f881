# SPDX-License-Identifier: GPL-2.0-only
"""The table of a moving path in the kernel's format: struct path_head and rows of bpf/path.h.

All arithmetic uses whole numbers. A rate in bit/s times whole microseconds gives a work (an amount
to send) in millionths of a bit. Standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise

from plan.layout import Layout
from plan.path import Path, Row, Way

HEAD = struct.Struct("=5QII")
ROW = struct.Struct("=5Q")
PS_PER_US = 1_000_000
UBIT = 1_000_000
LOSS_ONE = 1 << 32
NEVER = 1 << 62


def still(network: Layout) -> Row:
    """Return the path before time 0."""
    middle = network.moved.link
    return Row(0, middle.rate_bit_per_s, middle.delay_ns // 1000, 0.0, 0)


def rows_from(way: Way, before: Row, lead_us: int) -> Iterator[Row]:
    """Yield the row of the still path from the epoch on, then the rows of the path."""
    yield before
    for row in way.rows():
        yield row._replace(time_us=lead_us + row.time_us)


def works(rows: list[Row]) -> list[int]:
    """Return the work that the link can do by each row's time, with the row's bits at once."""
    done = [rows[0].bits * UBIT]
    for before, row in pairwise(rows):
        passed = before.rate_bit_per_s * (row.time_us - before.time_us)
        done.append(done[-1] + passed + row.bits * UBIT)
    return done


def packed(path: Path, direction: str, network: Layout, epoch_ns: int, origin_ns: int) -> bytes:
    """Return the table of one direction.

    Args:
        epoch_ns, origin_ns: times of CLOCK_MONOTONIC. The path is still from `epoch_ns` on; its
            time 0 is `origin_ns`.
    """
    lead_us = (origin_ns - epoch_ns) // 1000
    way = path.way(direction)
    rows = list(rows_from(way, still(network), lead_us))
    done = works(rows)
    loop_work = done[1] - rows[1].bits * UBIT
    last, end_us = rows[-1], lead_us + way.period_us
    period_work = done[-1] + last.rate_bit_per_s * (end_us - last.time_us) - loop_work
    fastest = max(row.rate_bit_per_s for row in rows)
    # cellq rounds the time of a cell on an access link in the same way.
    unit_bits = 8 * network.framing.unit_bytes
    no_faster = fastest * round(network.access.unit_time_ns()) <= unit_bits * 10**9
    steady = no_faster and not any(row.bits for row in rows)
    head = HEAD.pack(
        epoch_ns,
        lead_us * PS_PER_US,
        loop_work,
        way.period_us * PS_PER_US or NEVER,
        period_work if way.period_us else NEVER,
        len(rows),
        steady,
    )
    return head + b"".join(
        ROW.pack(
            row.time_us * PS_PER_US,
            work,
            row.rate_bit_per_s,
            row.delay_us * 1000,
            round(row.loss * LOSS_ONE),
        )
        for row, work in zip(rows, done, strict=True)
    )
