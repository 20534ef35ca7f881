# SPDX-License-Identifier: GPL-2.0-only
"""Queues without cells in the uml lab, with drops and with marks."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.small import TINY, run_trials, write_tiny

pytestmark = pytest.mark.lab

KINDS = """
[[rule]]
when = { queue = "codel" }
set = { queue.kind = "codel" }
[[rule]]
when = { queue = "drop-tail" }
set = { queue.kind = "drop-tail", queue.limit_packets = 20 }
[[rule]]
when = { queue = "adaptive-red" }
set = { queue.kind = "adaptive-red", queue.limit_packets = 100 }
[[rule]]
when = { queue = "pie" }
set = { queue.kind = "pie" }
[[rule]]
when = { queue = "fq-codel" }
set = { queue.kind = "fq-codel" }
[[rule]]
when = { queue = "fq-pie" }
set = { queue.kind = "fq-pie" }
[[rule]]
when = { queue = "cake" }
set = { queue.kind = "cake" }
[[rule]]
when = { ecn = "yes" }
set = { tcp.sysctl.tcp_ecn = 1 }
[[rule]]
when = { ecn = "yes", queue = ["codel", "pie", "fq-codel", "fq-pie", "adaptive-red"] }
set = { queue.ecn = true }
"""
DESIGN = """
queue = ["codel", "pie", "fq-codel", "fq-pie", "cake", "adaptive-red", "drop-tail"]
ecn = ["no", "yes"]
[[only]]
queue = ["codel", "pie", "fq-codel", "fq-pie", "cake", "adaptive-red"]
[[only]]
queue = ["drop-tail"]
ecn = ["no"]
"""


def test_what_is_dropped_or_marked_and_every_packet_is_accounted_for(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    text = TINY.replace('queue = { policy = "plain", buffer_cells = 300 }\n', "")
    text = text.replace('flavor = "sack"', 'flavor = "cubic"').replace("_s = 2", "_s = 6")
    text = text.replace('flavor = ["SACK"]\n', DESIGN) + "record.queue_sample_ms = 20\n" + KINDS
    path.write_text(text)
    trials = planned(experiment.load(path), path)
    documents = run_trials(tmp_path / "out", trials)  # all checks passed
    assert len(documents) == 13
    for document in documents.values():
        names = {check["name"] for check in document["checks"]}
        assert {"link rate", "idle round trip", "conservation down"} <= names
        assert document["metrics"]["efficiency"] > 0.8
        rates = document["probed_rate_bit_per_s"]
        assert all(abs(rate / 10_000_000 - 1) < 1e-4 for rate in rates.values()), rates
        counters = document["queue"]["down"]
        marks = document["factors"]["ecn"] == "yes"
        # With marks, what cannot be marked is dropped.
        more, less = ("marked", "drops") if marks else ("drops", "marked")
        assert counters[more] > counters[less] and (marks or not counters[less]), counters
        series(tmp_path / "out/trials" / document["trial"] / "queue.csv", counters)


def series(path: Path, counters: dict[str, int]) -> None:
    """The queue filled; drops and marks grow, up to what the counters say at the end."""
    with path.open() as stream:
        down = [row for row in csv.DictReader(stream) if row["port"] == "down"]
    assert max(int(row["backlog_packets"]) for row in down) > 0
    for column, counter in (("dropped_packets", "drops"), ("marked_packets", "marked")):
        counted = [int(row[column]) for row in down]
        assert counted == sorted(counted) and counted[-1] <= counters[counter]
        assert bool(counted[-1]) == bool(counters[counter])
