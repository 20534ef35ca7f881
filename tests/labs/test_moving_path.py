# SPDX-License-Identifier: GPL-2.0-only
"""A path that moves, in the uml lab: on both kinds of queue, and the still path is as before it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.labs.test_reproducible import assert_same_records
from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

PATH = """\
time_s,rate_bit_per_s,down_delay_us,up_delay_us,loss,outage
0,10000000,20000,20000,,
0.5,5000000,40000,30000,,
1,,,,,1
1.2,20000000,5000,8000,,0
2,10000000,5000,8000,0.01,
2.500001,8000000,25000,,0,
"""
TEXT = """
name = "moving"
title = "moving paths between still ones"
[factors]
queue = ["cells", "packets"]
path = ["still", "moves", "trace"]
[[only]]
path = ["still", "moves"]
[[only]]
queue = ["packets"]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 20_000, mss_bytes = 1460 }
tcp = { flavor = "cubic", window_bytes = 1_000_000, ssthresh_bytes = 1_000_000 }
workload = { kind = "iperf", duration_s = 3 }
[[rule]]
when = { queue = "cells" }
set.queue = { policy = "epd", buffer_cells = 1500, threshold = 0.8 }
[[rule]]
when = { queue = "packets" }
set.queue = { kind = "drop-tail", limit_packets = 60 }
[[rule]]
when = { path = "moves" }
set.topology.path = "path.csv"
[[rule]]
when = { path = "trace" }
set.topology.path = { kind = "mahimahi", down = "trace", up = "trace" }
[[rule]]
when = { path = "still" }
set.topology.path = "none"
"""


def test_each_packet_follows_the_function_and_the_still_path_is_as_before(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text(PATH)
    (tmp_path / "trace").write_text("1\n1\n4\n5\n5\n5\n60\n61\n62\n62\n")
    trials = trials_of(tmp_path, TEXT)
    documents = run_trials(tmp_path / "out", trials)  # all checks passed
    for document in documents.values():
        names = {check["name"] for check in document["checks"]}
        moves = document["factors"]["path"] != "still"
        assert ({"path begin", "path bytes", "path delays", "path packets"} <= names) == moves
        if moves:
            down = document["path"]["down"]
            lossy = document["factors"]["path"] == "moves"
            assert down["full"] >= 10 and down["arrived"] > 300
            assert (down["sent"] > down["arrived"]) == lossy
            assert down["delay_off_ns"] <= 10
            packets = document["factors"]["queue"] == "packets"
            assert (down["departure_off_ns"] or 0) <= 10 and ("path departures" in names) == packets
    # The other order: what moved leaves nothing behind for a trial that stands still.
    run_trials(tmp_path / "again", trials[::-1])
    assert_same_records([one.name for one in trials], tmp_path / "again", tmp_path / "out")
    kept = json.loads((tmp_path / "out/trials" / trials[0].name / "lab.json").read_text())
    assert "path" not in kept


def test_a_segment_that_waits_in_an_outage_is_sent_again(tmp_path: Path) -> None:
    """The link stands still for 4 s with a whole window in its queue, and drops nothing.

    As with a router of its own, each timeout sends a segment again (kernel patch 0023).
    """
    (tmp_path / "path.csv").write_text("time_s,outage\n0,0\n1,1\n5,0\n")
    text = TEXT.replace("duration_s = 3", "duration_s = 7").replace("pairs = 2", "pairs = 1")
    text = text.replace("window_bytes = 1_000_000", "window_bytes = 40_000")
    [trial] = trials_of(tmp_path, text, "queue=packets", "path=moves")
    [document] = run_trials(tmp_path / "out", [trial]).values()  # all checks passed
    folder = tmp_path / "out" / "trials" / document["trial"]
    assert document["metrics"]["dropped_share"] == 0
    [flow] = csv.DictReader((folder / "flows.csv").open())
    assert int(flow["retransmits"]) == int(flow["timeouts"]) > 1  # RFC 6298 section 5.4


def test_tables_of_all_lengths_do_the_same(tmp_path: Path) -> None:
    """The cell queue has a program for each: for up to 64 rows, for up to 8,192, and for more."""
    rows = {"few": range(1), "short": range(100), "long": range(9_000)}
    found = {}
    for name, numbers in rows.items():
        folder = tmp_path / name
        folder.mkdir()
        # From 20 ms on, the rate is that of the still path: 9,000 times the same, or once.
        lines = [f"{0.02 + 0.0001 * n:.4f},10000000" for n in numbers]
        text = "\n".join(["time_s,rate_bit_per_s", "0,8000000", *lines])
        (folder / "path.csv").write_text(text)
        [trial] = trials_of(folder, TEXT, "queue=cells", "path=moves")
        [document] = run_trials(folder / "out", [trial]).values()  # all checks passed
        record = folder / "out" / "trials" / document["trial"]
        found[name] = {x: (record / x).read_bytes() for x in ("flows.csv", "throughput.csv")}
        assert document["path"]["down"]["full"] >= 10
    assert found["few"] == found["short"] == found["long"]
