# SPDX-License-Identifier: GPL-2.0-only
"""Hosts that offload segmentation and coalesce what comes, in the uml lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

FAST = """
name = "fast"
title = "with single packets, then with what network cards do, then again with single packets"
[factors]
coalesce = [0, 1000, "again"]
[base]
topology = { pairs = 1, rate_bit_per_s = 100_000_000, delay_us = 5_000, mss_bytes = 1460 }
queue = { kind = "drop-tail", limit_packets = 70 }
tcp = { flavor = "cubic-rack", window_bytes = 1_048_560, ssthresh_bytes = 1_000_000_000 }
workload = { kind = "iperf", duration_s = 2 }
[[rule]]
when = { coalesce = 1000 }
set = { topology.coalesce_us = 1000 }
[[rule]]
when = { coalesce = "again" }
set = { queue.limit_packets = 71 }
"""


def test_segments_leave_and_come_together_and_the_queue_still_counts_each(tmp_path: Path) -> None:
    """run_trials() refuses a trial that is not valid, so the checks count as exactly as before."""
    single, together, again = run_trials(tmp_path / "out", trials_of(tmp_path, FAST)).values()
    packets, segments = together["offload"]["sw2-s1"]
    assert segments > 5 * packets
    assert together["links"]["sw2-s1"][0] == segments > together["queue"]["down"]["drops"] > 0
    acks = {name: one["links"]["sw1-c1"][0] for name, one in (("1", single), ("n", together))}
    assert acks["n"] < 0.6 * acks["1"]
    for one in (single, again):
        assert "offload" not in one
        assert one["links"]["sw1-c1"][0] > 0.3 * one["links"]["sw2-s1"][0]
