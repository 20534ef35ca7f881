# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources over QUIC leave the same record at two places in a lab, and never pause."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from harness.campaign.campaign import CampaignRun
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.labs.layers import layer_of
from harness.runners.options import Options
from tests.labs.test_reproducible import assert_same_records
from tests.small import run_trials

pytestmark = pytest.mark.lab

TEXT = """
name = "quic-bulk"
title = "sources that always have data, with two stacks"
[factors]
stack = ["ngtcp2", "aioquic"]
[base]
topology = { pairs = 2, rate_bit_per_s = 5_000_000, delay_us = 20_000, mss_bytes = 1460, loss.share = 0.005 }
queue = { kind = "drop-tail", limit_packets = 20 }
tcp = { flavor = "cubic-rack", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "quic-bulk", duration_s = 6, measure_from_s = 2, start_jitter_us = 500_000, file_bytes = 600_000 }
record = { queue_sample_ms = 20 }
[[rule]]
when = { stack = "ngtcp2" }
set.workload = { stack = "ngtcp2", congestion = "cubic" }
[[rule]]
when = { stack = "aioquic" }
set.workload = { stack = "aioquic", congestion = "reno", qlog = "both" }
"""  # noqa: E501 (a table has one line)


def plans(folder: Path, text: str, *only: str) -> list[PlannedTrial]:
    path = folder / "quic-bulk.toml"
    path.write_text(text)
    return planned(experiment.load(path), path, only, layers=partial(layer_of, "uml"))


def test_the_same_record_at_two_places_in_a_lab(tmp_path: Path) -> None:
    """And what arrived in the interval is what the queue sent in it, without headers."""
    trials = plans(tmp_path, TEXT)
    documents = run_trials(tmp_path / "one", trials)
    run_trials(tmp_path / "other", trials[::-1])
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")
    for name in documents:
        has_the_bytes_of_the_link(tmp_path / "one" / "trials" / name)


def has_the_bytes_of_the_link(record: Path) -> None:
    source = json.loads((record / "lab.json").read_text())["source"]
    assert source["answered"] >= 2 and source["offered"] == source["answered"] + 4
    assert sum(source["lost_packets"]) > 0, "the path loses packets, and the servers see it"
    with (record / "flows.csv").open() as stream:
        newly = [int(row["received_bytes"]) for row in csv.DictReader(stream)]
    assert newly == source["delivered_bytes"] and min(newly) > 0
    with (record / "throughput.csv").open() as stream:
        rows = [(int(row["time_ns"]), int(row["ip_bytes"])) for row in csv.DictReader(stream)]
    ends_s = (2, 6)
    begin, end = (sum(sent for at, sent in rows if at == second * 10**9) for second in ends_s)
    # Of 1,500 bytes, 44 to 60 are headers. Sent again, or still on the path, is the rest.
    assert 0.90 < sum(newly) / (end - begin) < 0.98


def test_a_file_that_is_too_small_for_the_path_fails_one_check(tmp_path: Path) -> None:
    """A server may then have nothing to send, so the trial is not valid."""
    text = TEXT.replace("file_bytes = 600_000", "file_bytes = 65_536")
    text = text.replace("limit_packets = 20", "limit_packets = 100")
    [trial] = plans(tmp_path, text, "stack=ngtcp2")
    campaign = CampaignRun(tmp_path / "out", [trial], {"name": "small"}, Options(jobs=1))
    [document] = campaign.run().values()
    assert [one["name"] for one in document["checks"] if not one["ok"]] == ["unsent data"]
    assert not document["valid"]


def test_the_interval_begins_where_it_should_on_a_moving_path(tmp_path: Path) -> None:
    """The trial begins later there, by the clock of the clients' program. The queue drops packets,
    and the checks of the path tell them from later packets.
    """
    text = TEXT.replace("loss.share = 0.005", 'path = "moves.csv"')
    (tmp_path / "moves.csv").write_text(
        "time_s,rate_bit_per_s,delay_us,loss,outage\n0,5000000,20000,0,0\n3,2000000,30000,0,0\n"
    )
    [trial] = plans(tmp_path, text, "stack=ngtcp2")
    [name] = run_trials(tmp_path / "out", [trial])
    source = json.loads((tmp_path / "out" / "trials" / name / "lab.json").read_text())["source"]
    assert sum(source["lost_packets"]) > 0
    for newly, whole in zip(source["delivered_bytes"], source["received_whole_bytes"], strict=True):
        assert 0 < newly < whole
