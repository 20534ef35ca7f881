# SPDX-License-Identifier: GPL-2.0-only
"""A kept .cellq file has the same bytes wherever in its lab the trial ran."""

from __future__ import annotations

import pytest

from topology.cellq_log import DROP, FRAME, HEADER, LAYOUTS, MAGIC, SAMPLE, VERSION, as_first
from topology.clock import TIMER_GRAIN_NS

T0_NS = 8_000_000_123
HEAD = HEADER.pack(MAGIC, VERSION, HEADER.size + 3) + b"the"


def log(begin_ns: int) -> bytes:
    """Records of a trial that began so late: before its time 0, at it, and of a lost frame."""
    frame, drop, sample = LAYOUTS[FRAME], LAYOUTS[DROP], LAYOUTS[SAMPLE]
    return HEAD + b"".join([
        frame.pack(FRAME, 0, 1, 3, 0, begin_ns + 5, begin_ns + 9, begin_ns + 7),
        sample.pack(SAMPLE, 2, 30, begin_ns + T0_NS),
        frame.pack(FRAME, 2, 1, 3, 1, begin_ns + T0_NS, 0, begin_ns + T0_NS + 4),
        drop.pack(DROP, 2, 1, 3, begin_ns + T0_NS + 2, 30, 9, 2, 0, 1),
    ])  # fmt: skip


@pytest.mark.parametrize("place", [1, 2, 7, 4000])
def test_a_later_trial_leaves_the_first_one_s_bytes(place: int) -> None:
    begin_ns = place * TIMER_GRAIN_NS
    assert as_first(log(begin_ns), begin_ns + T0_NS) == log(TIMER_GRAIN_NS)


def test_by_a_clock_that_has_just_begun_all_stays() -> None:
    """In real time a trial begins at any moment."""
    assert as_first(log(3), T0_NS) == log(3)
