# SPDX-License-Identifier: GPL-2.0-only
"""Events of the kernel in trace.csv: exact times, the same figures, and no other table changes."""

from __future__ import annotations

import csv
import hashlib
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaign.campaign import CampaignRun
from harness.design.trials import PlannedTrial
from harness.runners.options import Options
from harness.scripts import products
from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

SENDER = "10.2.0.2:5202"
# The buffer holds less than a window: segments are lost.
TEXT = """
name = "traced"
title = "two senders, a small buffer"
[factors]
seen = ["no", "yes"]
[base]
topology = { pairs = 2, rate_bit_per_s = 20_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 300 }
tcp.flavor = "cubic"
tcp.window_bytes = 262_140
tcp.ssthresh_bytes = 65_535
record = { cwnd_sample_ms = 5, queue_sample_ms = 5, drops = true, pcap = ["down"] }
workload = { kind = "iperf", duration_s = 3 }
[[rule]]
when = { seen = "no" }
set = { record.trace = [] }
[[rule]]
when = { seen = "yes" }
set = { record.trace = ["tcp:tcp_probe", "tcp:tcp_retransmit_skb"] }
"""


def traced(folder: Path, text: str = TEXT) -> list[PlannedTrial]:
    """The trials on a kernel that can trace: that of scripts, which other tests build, too."""
    return [replace(trial, kernel=products.kernel()) for trial in trials_of(folder, text)]


def tables(folder: Path) -> dict[str, str]:
    """Digests of all tables of a record, and of its packets."""
    found = [path for path in folder.iterdir() if path.suffix in (".csv", ".pcap")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_events_have_the_times_and_windows_of_the_other_tables(tmp_path: Path) -> None:
    without, with_events = traced(tmp_path)
    run_trials(tmp_path / "out", [without])  # a lab each: the packets have the lab's own time
    documents = run_trials(tmp_path / "out", [with_events])
    folders = [tmp_path / "out" / "trials" / one.name for one in (without, with_events)]
    before, after = map(tables, folders)
    assert after.pop("trace.csv") and after == before and len(before) == 6
    events = rows(folders[1] / "trace.csv")
    retransmits = [row for row in events if row["event"] == "tcp:tcp_retransmit_skb"]
    assert len(retransmits) == len(rows(folders[1] / "drops.csv")) > 0
    assert {row["saddr"] for row in retransmits} <= {"10.2.0.2", "10.2.0.3"}
    checks = {check["name"]: check for check in documents[with_events.name]["checks"]}
    assert checks["trace"]["ok"]
    assert_windows_agree(events, rows(folders[1] / "cwnd.csv"))


def assert_windows_agree(events: list[dict[str, str]], samples: list[dict[str, str]]) -> None:
    """An event tells the window before the segment that caused it: that of the sample before."""
    probes = [row for row in events if row["saddr"] == SENDER and row["event"] == "tcp:tcp_probe"]
    times = [int(row["time_ns"]) for row in probes]
    mine = [row for row in samples if row["pair"] == "1" and row["cwnd_segments"]]
    before = [row for row in mine if int(row["time_ns"]) < times[-1]]
    told = [probes[bisect_left(times, int(row["time_ns"]))]["snd_cwnd"] for row in before]
    assert len(before) > 500 and told == [row["cwnd_segments"] for row in before]


def test_an_unknown_event_is_one_sentence(tmp_path: Path) -> None:
    text = TEXT.replace("tcp:tcp_probe", "tcp:tcp_prob")
    [_, trial] = traced(tmp_path, text)
    campaign = CampaignRun(tmp_path / "out", [trial], {"name": "x"}, Options(jobs=1))
    campaign.run()
    why = campaign.failures[trial.name][-1].splitlines()[0]
    assert why.startswith("record.trace: kernel 6.12.")
    assert why.endswith("has no event tcp:tcp_prob; did you mean tcp:tcp_probe?")
