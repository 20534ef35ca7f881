# SPDX-License-Identifier: GPL-2.0-only
"""Links of Ethernet frames in the uml lab: what a full link carries, and how checks fail."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.records import Trial, read_trial
from harness.judge import judgement
from tests.labs.test_broken_trials import judge
from tests.small import PROJECT, run_trials, trials_of

pytestmark = pytest.mark.lab

RATE = 10_000_000
MTU = 1500
# What a full packet takes on each kind of link.
ON_LINK = {"atm": 32 * 53, "ethernet": MTU + 38}
FULL = f"""
name = "full"
title = "a full link in cells and in frames"
[factors]
topology.link_layer = ["atm", "ethernet"]
queue.kind = ["drop-tail", "fq-codel", "adaptive-red-ns2"]
[base]
topology = {{ pairs = 2, rate_bit_per_s = {RATE}, delay_us = 5_000, mss_bytes = {MTU - 40} }}
queue.limit_packets = 60
tcp = {{ flavor = "cubic", window_bytes = 262_144, ssthresh_bytes = 1_000_000 }}
workload = {{ kind = "iperf", duration_s = 8 }}
record = {{ throughput_sample_ms = 1000 }}
"""
LOT = f"""
name = "lot"
title = "two links of frames"
[factors]
x = [1]
[base]
topology.kind = "parking-lot"
topology.link_layer = "ethernet"
topology.links = 2
topology.long_pairs = 1
topology.cross_pairs = 1
topology.rate_bit_per_s = [10_000_000, 6_000_000]
topology.delay_us = [8_000, 3_000]
topology.mss_bytes = {MTU - 40}
queue = {{ kind = "drop-tail", limit_packets = 25 }}
tcp = {{ flavor = "cubic", window_bytes = 262_144, ssthresh_bytes = 1_000_000 }}
workload = {{ kind = "iperf", duration_s = 3 }}
record = {{ pcap = ["down"], queue_sample_ms = 5 }}
"""
OTHERS = f"""
name = "others"
title = "workloads that count what a packet takes"
[factors]
load = ["web", "quic"]
[base]
topology.link_layer = "ethernet"
topology.pairs = 2
topology.rate_bit_per_s = {RATE}
topology.delay_us = 5_000
topology.mss_bytes = 1200
queue = {{ kind = "drop-tail", limit_packets = 1000 }}
tcp = {{ flavor = "sack", window_bytes = 65_535, ssthresh_bytes = 12_500 }}
[[rule]]
when = {{ load = "web" }}
[rule.set]
topology.delay = "connection"
workload = {{ kind = "packmime", load_percent = 50, exchanges = 1000, duration_s = 60 }}
[[rule]]
when = {{ load = "quic" }}
[rule.set]
workload = {{ kind = "quic", duration_s = 2.0, period_s = 1.0, gap_min_ms = 10, gap_max_ms = 60 }}
"""
MOVING = f"""
name = "moving"
title = "a link of frames whose rate moves"
[factors]
x = [1]
[base]
topology.pairs = 2
topology.rate_bit_per_s = {RATE}
topology.delay_us = 5_000
topology.mss_bytes = {MTU - 40}
topology.link_layer = "ethernet"
topology.path = "steps.csv"
queue = {{ kind = "drop-tail", limit_packets = 60 }}
tcp = {{ flavor = "cubic", window_bytes = 262_144, ssthresh_bytes = 1_000_000 }}
workload = {{ kind = "iperf", duration_s = 6 }}
record = {{ throughput_sample_ms = 1000 }}
"""
STEPS = "time_s,rate_bit_per_s\n0,10000000\n2,5000000\n"


def ip_rate(trial: Trial, begin_s: int, end_s: int) -> float:
    """The IP bits that all clients received each second, between two samples."""
    with (trial.folder / "throughput.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    by_time = [
        sum(int(row["ip_bytes"]) for row in rows if int(row["time_ns"]) == at * 10**9)
        for at in (begin_s, end_s)
    ]
    assert 0 < by_time[0] < by_time[1]
    return (by_time[1] - by_time[0]) * 8 / (end_s - begin_s)


def test_a_full_link_carries_its_rate_in_whole_frames(tmp_path: Path) -> None:
    """All packets are full, so the link's own bytes are known. All checks passed."""
    run_trials(tmp_path / "out", trials_of(tmp_path, FULL))
    trials = [read_trial(path) for path in judgement.records(tmp_path / "out")]
    assert len(trials) == 6
    for trial in trials:
        layer = trial.plan.topology.link_layer
        expected = RATE * MTU / ON_LINK[layer]
        assert ip_rate(trial, 2, 8) == pytest.approx(expected, rel=1e-3), trial.name
        # The flavor's timestamps take 12 of a full segment's 1460 bytes.
        assert trial.metrics["capacity_bit_per_s"] == RATE * (MTU - 40) / ON_LINK[layer]
        assert 0.97 * 1448 / 1460 < trial.metrics["efficiency"] <= 1448 / 1460 + 0.002
        checks = {check["name"] for check in trial.document["checks"]}
        assert {"link rate", "idle round trip", "conservation down"} <= checks


def test_a_moving_link_of_frames_has_its_rates(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(STEPS)
    run_trials(tmp_path / "out", trials_of(tmp_path, MOVING))
    [trial] = [read_trial(path) for path in judgement.records(tmp_path / "out")]
    checks = {check["name"] for check in trial.document["checks"]}
    assert {"link rate", "path bytes", "path departures"} <= checks
    assert ip_rate(trial, 3, 6) == pytest.approx(RATE / 2 * MTU / ON_LINK["ethernet"], rel=1e-3)


ON_THE_DUMBBELL = {
    "nothing": set(),
    "a link of cells": {"link rate", "idle round trip"},
    "a link 1 % slow": {"link rate"},
    "a delay 1 % long": {"idle round trip"},
    "loss in a switch": {"drops elsewhere", "conservation down"},
    "a packet from nowhere": {"conservation down"},
}
ON_THE_LOT = {
    "nothing": set(),
    "a link 1 % slow": {"link rate link1", "link rate link2"},
    "loss in a switch": {"drops elsewhere", "conservation link2-down", "bytes link2-down"},
    "samples of another link": {"link sample bytes"},
    "a sample with too many bytes": {"link sample rows"},
}


def test_the_documented_table_is_this_one() -> None:
    rows = [
        f"| frames | {name} | {', '.join(sorted(failing))} |"
        for name, failing in ON_THE_DUMBBELL.items()
        if failing
    ]
    assert "\n".join(rows) + "\n\n" in (PROJECT / "docs" / "records.md").read_text()


@pytest.mark.parametrize(
    ("text", "broken"),
    [(FULL, ON_THE_DUMBBELL), (LOT, ON_THE_LOT)],
    ids=["dumbbell", "parking lot"],
)
def test_what_is_broken_fails(tmp_path: Path, text: str, broken: dict[str, set[str]]) -> None:
    trial = trials_of(tmp_path, text)[-1]
    assert trial.plan.topology.link_layer == "ethernet"
    lab = tmp_path / "lab"
    lab.mkdir()
    judged, failed = judge(lab, {"it": trial}, [("it", name) for name in broken])
    assert not failed
    for (_, name), verdicts in judged.items():
        assert {one["name"] for one in verdicts if not one["ok"]} == broken[name], verdicts


OF_OTHERS = [
    ("web", "nothing", set()),
    ("web", "round trips a tenth of a millisecond off", {"handshakes", "round trips"}),
    ("web", "servers that take their time", {"server delays"}),
    ("quic", "nothing", set()),
    ("quic", "an access link 2 ms long", {"sent moments"}),
]


def test_workloads_that_count_what_a_packet_takes(tmp_path: Path) -> None:
    trials = {str(one.factors["load"]): one for one in trials_of(tmp_path, OTHERS)}
    lab = tmp_path / "lab"
    lab.mkdir()
    judged, failed = judge(lab, trials, [(load, name) for load, name, _ in OF_OTHERS])
    assert not failed
    for load, name, failing in OF_OTHERS:
        verdicts = judged[load, name]
        assert {one["name"] for one in verdicts if not one["ok"]} == failing, (load, verdicts)
