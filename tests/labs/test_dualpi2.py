# SPDX-License-Identifier: GPL-2.0-only
"""DualPI2 in the newest kernel: who is in which queue, what is marked, and how long packets wait.

The first run builds Linux 7.3 (5 minutes of two idle cores); CELLBED_SLOW_TESTS=1.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.labs.test_reproducible import assert_same_records
from tests.small import PROJECT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
TEXT = """
name = "dual"
title = "two senders and two queues"
[factors]
queue.l_queue = ["any-ect", "ect1"]
[base]
topology = { pairs = 2, rate_bit_per_s = 40_000_000, delay_us = 4_000, mss_bytes = 1448 }
queue = { kind = "dualpi2" }
tcp = { flavor = ["dctcp", "cubic"], window_bytes = 1_048_560, ssthresh_bytes = 1_048_560 }
workload = { kind = "iperf", duration_s = 5, measure_from_s = 2 }
record = { queue_sample_ms = 10, sojourn = ["down"] }
lab.kernel = "7.3"
"""
Trial = tuple[Mapping[str, Any], list[Mapping[str, str]]]


def run(folder: Path, *words: str) -> None:
    """Run the experiment into a folder; a trial that fails a check ends the command with 1."""
    path = folder.parent / "dual.toml"
    path.write_text(TEXT)
    argv = [str(PROJECT / "cellbed"), "run", str(path), "--out", str(folder), *words]
    subprocess.run(argv, check=True, cwd=PROJECT, timeout=3600)


def measured(row: Mapping[str, str]) -> bool:
    """Is a row of a table in the measured interval?"""
    return 2 * 10**9 < int(row["time_ns"]) < 5 * 10**9


def trial(folder: Path, level: str) -> Trial:
    """Return lab.json and sojourn.csv of a level."""
    [found] = (folder / "trials").glob(f"{level}-s1-*")
    with (found / "sojourn.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if measured(row)]
    return json.loads((found / "lab.json").read_text()), rows


def of(rows: Sequence[Mapping[str, str]], pair: str) -> tuple[float, set[str]]:
    """Return the mean time of a pair's packets in the queue [ms], and their ECN fields."""
    own = [row for row in rows if row["pair"] == pair]
    return fmean(int(row["sojourn_ns"]) / 1e6 for row in own), {row["ecn"] for row in own}


def test_who_is_in_which_queue(tmp_path: Path) -> None:
    run(tmp_path / "out")
    facts, rows = trial(tmp_path / "out", "any-ect")
    counters = facts["queue"]["down"]
    (low_ms, dctcp), (classic_ms, cubic) = of(rows, "1"), of(rows, "2")
    assert low_ms < 1.5 and 8 < classic_ms < 25
    assert dctcp == {"2", "3"} and cubic == {"0"}  # ECT(0) and CE; no ECN
    assert counters["packets_in_l"] > 1000 and counters["packets_in_c"] > 1000
    assert counters["marked"] > counters["step_marks"] > 0 < counters["drops"]
    facts, rows = trial(tmp_path / "out", "ect1")
    # The marks of the C queue become CE only behind it: nothing was in the L queue.
    assert facts["queue"]["down"]["packets_in_l"] == 0 == facts["queue"]["down"]["step_marks"]
    assert all(8 < of(rows, pair)[0] < 25 for pair in "12")


def test_its_random_numbers_begin_with_the_trial(tmp_path: Path) -> None:
    """As the second trial of a lab and as the first, the record is the same."""
    run(tmp_path / "out", "--jobs", "1")
    run(tmp_path / "again", "--jobs", "1", "--only", "queue.l_queue=ect1")
    [name] = [path.name for path in (tmp_path / "again/trials").iterdir()]
    assert_same_records([name], tmp_path / "again", tmp_path / "out")


def test_the_time_in_the_queue_is_what_the_queue_itself_says(tmp_path: Path) -> None:
    """The age of the first packet of the C queue, from the kernel, and cubic's packets then."""
    run(tmp_path / "out", "--only", "queue.l_queue=any-ect")
    _, rows = trial(tmp_path / "out", "any-ect")
    [found] = (tmp_path / "out/trials").glob("any-ect-*")
    with (found / "queue.csv").open() as stream:
        ages = [
            int(row["c_delay_us"]) / 1e3
            for row in csv.DictReader(stream)
            if row["port"] == "down" and measured(row)
        ]
    assert fmean(ages) == pytest.approx(of(rows, "2")[0], rel=0.1)
