# SPDX-License-Identifier: GPL-2.0-only
"""Trials over QUIC give the same record at two places in a lab, with both stacks and losses."""

from __future__ import annotations

import csv
import json
import zipfile
from functools import partial
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from harness.labs.layers import layer_of
from tests.labs.test_reproducible import assert_same_records
from tests.small import run_trials

pytestmark = pytest.mark.lab

TEXT = """
name = "quic"
title = "two stacks and two congestion controls, with losses"
seeds = 2
[factors]
stack = ["ngtcp2", "aioquic"]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 20_000, mss_bytes = 1460, loss.share = 0.01 }
queue = { kind = "drop-tail", limit_packets = 60 }
tcp = { flavor = "cubic-rack", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "quic", duration_s = 5, streams = 2 }
record = { queue_sample_ms = 20 }
[[rule]]
when = { stack = "ngtcp2" }
set.workload = { stack = "ngtcp2", congestion = "bbr" }
[[rule]]
when = { stack = "aioquic" }
set.workload = { stack = "aioquic", congestion = "reno", qlog = "both" }
"""  # noqa: E501 (a table has one line)


def test_the_same_record_at_two_places_in_a_lab(tmp_path: Path) -> None:
    """And its tables tell of the same transfers as its qlog."""
    path = tmp_path / "quic.toml"
    path.write_text(TEXT)
    trials = planned(experiment.load(path), path, layers=partial(layer_of, "uml"))
    documents = run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "other", trials[::-1], jobs=1)
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")
    for name in documents:
        tell_of_the_same_transfers(tmp_path / "one" / "trials" / name)


def tell_of_the_same_transfers(record: Path) -> None:
    facts = json.loads((record / "lab.json").read_text())["source"]
    with (record / "requests.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    done = [row for row in rows if row["last_byte_ns"]]
    assert 0 < len(done) == facts["answered"]
    for row in done:
        moments = [int(row[f"{name}_ns"]) for name in ("due", "sent", "first_byte", "last_byte")]
        assert moments == sorted(moments)
        assert moments[2] - moments[1] > 40_000_000, "no answer is faster than the path"
    assert sum(facts["lost_packets"]) > 0, "the path loses packets, and the servers see it"
    ends = "sc" if "aioquic" in record.name else "s"
    with zipfile.ZipFile(record / "qlog.zip") as archive:
        assert sorted(archive.namelist()) == sorted(f"{e}{n}.sqlog" for e in ends for n in (1, 2))
    with (record / "quic_cwnd.csv").open() as stream:
        windows = list(csv.DictReader(stream))
    assert {row["pair"] for row in windows} == {"1", "2"}
    assert len({row["cwnd_bytes"] for row in windows}) > 3
