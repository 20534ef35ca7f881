# SPDX-License-Identifier: GPL-2.0-only
"""Throughput of each pair over time, from the bytes that it had by each moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.records import Record

Values = NDArray[np.float64]
SECOND_NS = 1e9


def delivered(record: Record) -> tuple[Values, Values]:
    """Moments [s] of throughput.csv, and the bytes that the pairs had by then: (moments, pairs).

    Of a trial that runs, the last moment may lack pairs: it is left out.
    """
    found: dict[float, list[float]] = {}
    for row in record.series("throughput") or ():
        found.setdefault(float(row["time_ns"] or 0), []).append(float(row["ip_bytes"] or 0))
    pairs = max(map(len, found.values()), default=0)
    whole = {time_ns: total for time_ns, total in found.items() if len(total) == pairs}
    return np.array([*whole]) / SECOND_NS, np.array([*whole.values()]).reshape(len(whole), pairs)


def rates(time_s: ArrayLike, total: ArrayLike, most: int) -> tuple[Values, Values] | None:
    """Throughput [Mbit/s] from one moment to the next, and the moments, one more than those.

    None of less than two moments; of many as few, evenly, as give at most `most` figures in all.

    Returns:
        moments: (n + 1,); rates: (n, pairs).
    """
    moments, counted = np.asarray(time_s, dtype=float), np.asarray(total, dtype=float)
    if len(moments) < 2:
        return None
    step = -(-counted.size // most)
    kept = np.unique([*range(0, len(moments), step), len(moments) - 1])
    moments, counted = moments[kept], counted[kept]
    return moments, np.diff(counted, axis=0) * 8 / 1e6 / np.diff(moments)[:, None]
