# SPDX-License-Identifier: GPL-2.0-only
"""What tables and `ss` call cwnd is the congestion window, also of a sender that counts bytes."""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from tests.small import run_trials, trials_of
from topology.connections import CONGESTION, INFO, MODULE, connection, with_cwnd

# No loss: a window then grows or stays, whatever its sender has to send at the moment.
TEXT = """
name = "windows"
title = "windows in bytes, and nothing lost"
[factors]
load = ["www", "iperf"]
[base]
topology = { pairs = 2, rate_bit_per_s = 20_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 10_000 }
tcp.flavor = "sack"
tcp.window_bytes = 65_535
tcp.ssthresh_bytes = 20_000
tcp.parameters = { byte_window = true, grow_app_limited = true }
record = { cwnd_sample_ms = 20 }
[[rule]]
when = { load = "www" }
[rule.set]
workload = { kind = "www", duration_s = 3.0, period_s = 1.0, gap_min_ms = 10, gap_max_ms = 60 }
[[rule]]
when = { load = "iperf" }
set = { workload = { kind = "iperf", duration_s = 2 } }
"""


def rows(table: Path) -> list[dict[str, int]]:
    with table.open(newline="", encoding="ascii") as stream:
        return [{k: int(v) for k, v in row.items() if v} for row in csv.DictReader(stream)]


@pytest.mark.lab
def test_a_window_without_loss_never_shrinks(tmp_path: Path) -> None:
    trials = trials_of(tmp_path, TEXT)
    documents = run_trials(tmp_path / "out", trials)
    for trial in trials:
        assert documents[trial.name]["valid"], documents[trial.name]["checks"]
        folder = tmp_path / "out" / "trials" / trial.name
        samples, flows = rows(folder / "cwnd.csv"), rows(folder / "flows.csv")
        assert {row.get("retransmits") for row in flows} == {0}
        for flow in flows:
            mine = [row for row in samples if row["pair"] == flow["pair"]]
            windows = [row["cwnd_segments"] for row in mine if row["time_ns"] <= 2 * 10**9]
            assert windows[0] >= 1 and windows[-1] > 20
            assert all(a <= b for a, b in itertools.pairwise(windows)), windows
            assert flow["cwnd_segments"] >= windows[-1]
        assert sampled(documents[trial.name]) == at_second_1(samples)


def sampled(document: dict[str, Any]) -> int:
    """cwnd of the first pair's data connection, as the record's `ss` shows it at second 1."""
    return max(map(int, re.findall(r" cwnd:(\d+)", document["tcp"]["samples"]["1"])))


def at_second_1(samples: list[dict[str, int]]) -> int:
    (row,) = (r for r in samples if r["time_ns"] == 10**9 and r["pair"] == 1)
    return row["cwnd_segments"]


INFO_BYTES = bytes(76) + bytes([9, 0, 0, 0, 3, 0, 0, 0]) + bytes(200)


def test_our_module_tells_its_window_and_others_have_tcp_info() -> None:
    told = (0).to_bytes(4, "little") + (10_250).to_bytes(4, "little")
    told += (1).to_bytes(4, "little") + (1024).to_bytes(4, "little")
    ours = {INFO: INFO_BYTES, CONGESTION: b"cellbed_sack\0", MODULE: told}
    assert connection((80, 5), ours).cwnd_segments == 10
    assert connection((80, 5), {**ours, CONGESTION: b"vegas\0"}).cwnd_segments == 3
    assert connection((80, 5), {INFO: INFO_BYTES, CONGESTION: b"cubic\0"}).cwnd_segments == 3


def test_a_module_that_does_not_tell_leaves_it_open() -> None:
    found = connection((80, 5), {INFO: INFO_BYTES, CONGESTION: b"cellbed_sack\0"})
    assert found.cwnd_segments is None
    line = "0 0 10.2.0.2:80 10.1.0.2:5 sack cellbed_sack rto:280 cwnd:3 ssthresh:9"
    assert "cwnd" not in with_cwnd(line, [found]).replace("ssthresh", "")
