# SPDX-License-Identifier: GPL-2.0-only
"""Trials with video give the same record at two places in a lab, on a moving path, with stalls."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.labs.test_reproducible import assert_same_records
from tests.small import run_trials

pytestmark = pytest.mark.lab

TEXT = """
name = "video"
title = "three rules over a link that stops"
[factors]
workload.adaptation = ["throughput", "bola", "buffer"]
[base]
topology = { pairs = 2, rate_bit_per_s = 4_000_000, delay_us = 20_000, mss_bytes = 1460, path = "stop.csv" }
queue = { kind = "drop-tail", limit_packets = 50 }
tcp = { flavor = "cubic", window_bytes = 500_000, ssthresh_bytes = 1_000_000_000 }
workload = { kind = "dash", duration_s = 20, segment_ms = 1000, buffer_ms = 5000, size_spread = 0.3 }
"""  # noqa: E501 (a table has one line)
# The link stops for longer than the buffer lasts, from 8 to 15 s.
END_NS = 15_000_000_000
PATH = "time_s,rate_bit_per_s,outage\n0,4000000,0\n8,,1\n15,2000000,0\n"


def test_the_same_record_at_two_places_in_a_lab(tmp_path: Path) -> None:
    path = tmp_path / "video.toml"
    path.write_text(TEXT)
    (tmp_path / "stop.csv").write_text(PATH)
    trials = planned(experiment.load(path), path)
    documents = run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "other", trials[::-1], jobs=1)
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")
    for name, document in documents.items():
        assert document["valid"], document["checks"]
        tells_of_the_stall(tmp_path / "one" / "trials" / name)


def tells_of_the_stall(record: Path) -> None:
    """Each player has a stall that lasts until the link carries something again.

    It can begin before the link stops, if the player has chosen a level that is too high.
    """
    facts = json.loads((record / "lab.json").read_text())["source"]
    stalls, rows = rows_of(record, "stalls"), rows_of(record, "segments")
    assert facts["figures"]["stalls"] == len(stalls) and facts["max_late_ns"] < 100_000
    begun = [row for row in stalls if int(row["begin_ns"]) < END_NS]
    long = [row for row in begun if not row["end_ns"] or int(row["end_ns"]) > END_NS]
    assert [row["pair"] for row in long] == ["1", "2"]
    for row in rows:
        if row["first_byte_ns"]:
            round_trip_ns = int(row["first_byte_ns"]) - int(row["requested_ns"])
            assert round_trip_ns > 40_000_000, "no answer is faster than the path"
    assert len({row["bytes"] for row in rows if row["level"] == "0"}) > 1, "sizes are drawn"


def rows_of(record: Path, name: str) -> list[dict[str, str]]:
    with (record / f"{name}.csv").open() as stream:
        return list(csv.DictReader(stream))
