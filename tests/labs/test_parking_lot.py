# SPDX-License-Identifier: GPL-2.0-only
"""The parking lot in the uml lab: each link carries the sum of its flows, and has its own delay."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from analysis.pcap import frames, pair_of
from analysis.records import Trial, capture_start_ns, read_trial
from harness.judge import judgement
from plan.atm import frame_cells
from tests.labs.test_broken_trials import judge
from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

ETHERNET_BYTES = 14
RATES = (10_000_000, 6_000_000)
DELAYS_US = (8_000, 3_000)
TEXT = f"""
name = "lot"
title = "two links, and a pair over both"
[factors]
kind = ["drop-tail", "fq-codel"]
[base]
topology.kind = "parking-lot"
topology.links = 2
topology.long_pairs = 1
topology.cross_pairs = 1
topology.rate_bit_per_s = {[*RATES]}
topology.delay_us = {[*DELAYS_US]}
topology.mss_bytes = 1448
queue.limit_packets = 25
tcp = {{ flavor = "cubic", window_bytes = 262_144, ssthresh_bytes = 1_000_000 }}
workload = {{ kind = "iperf", duration_s = 6 }}
record = {{ pcap = ["down", "up"], queue_sample_ms = 5 }}
[[rule]]
when.kind = "drop-tail"
set.queue.kind = "drop-tail"
[[rule]]
when.kind = "fq-codel"
set.queue.kind = "fq-codel"
"""
CROSSING = {"link1": {1, 2}, "link2": {1, 3}}


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    """All checks of both passed."""
    folder = tmp_path_factory.mktemp("lot")
    run_trials(folder / "out", trials_of(folder, TEXT))
    return [read_trial(path) for path in judgement.records(folder / "out")]


def table(trial: Trial, name: str) -> list[dict[str, str]]:
    with (trial.folder / name).open() as stream:
        return list(csv.DictReader(stream))


def carried(trial: Trial, port: str) -> dict[int, int]:
    """Time [ns] -> bytes that left a queue by then, by the counters of its device."""
    return {int(row["time_ns"]): int(row["ip_bytes"]) for row in table(trial, "links.csv")
            if row["port"] == port}  # fmt: skip


def captured(trial: Trial, link: str, begin_ns: int, end_ns: int) -> Counter[int]:
    """Pair -> bytes of IP packets that left the downward queue of a link, by its pcap file."""
    found: Counter[int] = Counter()
    start_ns = capture_start_ns(trial)
    for time_ns, length, packet in frames(trial.folder / f"{link}-down.pcap"):
        from_server = packet[26:28] == bytes((10, 2))
        if from_server and begin_ns < time_ns - start_ns <= end_ns:
            found[pair_of(packet[26:30])] += length - ETHERNET_BYTES
    return found


def test_each_link_carries_the_sum_of_its_flows(trials: list[Trial]) -> None:
    """The kernel counts a link's bytes; its packets, captured, say whose they are."""
    for trial in trials:
        for link, pairs in CROSSING.items():
            counted = carried(trial, f"{link}-down")
            begin_ns, end_ns = 1_000_000_000, 6_000_000_000
            by_pair = captured(trial, link, begin_ns, end_ns)
            assert {*by_pair} == pairs and min(by_pair.values()) > 100_000
            assert sum(by_pair.values()) == counted[end_ns] - counted[begin_ns]


def test_what_the_last_link_carries_comes_to_the_clients(trials: list[Trial]) -> None:
    """But for what is in flight: at most what the link sends in its delay and two packets."""
    for trial in trials:
        counted = carried(trial, "link2-down")
        rows = table(trial, "throughput.csv")
        in_flight = RATES[1] / 8 * (DELAYS_US[1] + 10) / 1e6 + 2 * 1488
        for time_ns, by_link in counted.items():
            now = [row for row in rows if int(row["time_ns"]) == time_ns]
            of_pairs = sum(int(row["ip_bytes"]) for row in now if row["pair"] in ("1", "3"))
            assert 0 <= by_link - of_pairs <= in_flight


def test_a_probe_over_each_route_takes_what_its_links_take(trials: list[Trial]) -> None:
    cells = frame_cells(84)
    expected = {"long": (0, 1), "link1": (0,), "link2": (1,)}
    for trial in trials:
        for route, links in expected.items():
            at_links_us = sum(cells * 424 / RATES[at] * 1e6 + DELAYS_US[at] for at in links)
            access_us = 2 * (cells * 2.831 + 5)
            for found in trial.facts.routes[route]["idle_round_trip_ns"]:
                assert found / 1e3 == pytest.approx(2 * (at_links_us + access_us), abs=1.5)


def test_each_queue_fills_and_is_recorded(trials: list[Trial]) -> None:
    for trial in trials:
        rows = table(trial, "queue.csv")
        assert {row["port"] for row in rows} == {
            f"{link}-{way}" for link in CROSSING for way in ("down", "up")
        }
        for link in CROSSING:
            most = max(int(row["backlog_packets"]) for row in rows if row["port"] == f"{link}-down")
            assert 10 < most <= 25
            assert trial.facts.queue[f"{link}-down"]["drops"] > 0
        routes = [row["route"] for row in table(trial, "flows.csv")]
        assert routes == ["long", "link1", "link2"]


def test_the_same_trial_gives_the_same_bytes(trials: list[Trial], tmp_path: Path) -> None:
    """In another lab, and at another place in it. Captures have the lab's own clock."""
    again = trials_of(tmp_path, TEXT)
    run_trials(tmp_path / "out", again[::-1], jobs=1)
    for trial in trials:
        other = tmp_path / "out/trials" / trial.name
        tables = sorted(path.name for path in trial.folder.glob("*.csv"))
        assert len(tables) == 4
        for name in [*tables, "lab.json"]:
            assert (other / name).read_bytes() == (trial.folder / name).read_bytes(), name


def test_with_one_link_it_is_the_dumbbell(tmp_path: Path) -> None:
    """Pair by pair and packet by packet, whatever the switches and the box are called."""
    keys = "topology.links = 2\ntopology.long_pairs = 1\ntopology.cross_pairs = 1\n"
    dumbbell = TEXT.replace("parking-lot", "dumbbell").replace(keys, "topology.pairs = 3\n")
    lot = TEXT.replace("links = 2", "links = 1").replace("long_pairs = 1", "long_pairs = 2")
    found = []
    for name, text in (("dumbbell", dumbbell), ("lot", lot)):
        for several, one in ((RATES, RATES[0]), (DELAYS_US, DELAYS_US[0])):
            text = text.replace(str([*several]), str(one))
        folder = tmp_path / name
        folder.mkdir()
        run_trials(folder / "out", trials_of(folder, text))
        found.append([read_trial(path) for path in judgement.records(folder / "out")])
    for plain, other in zip(*found, strict=True):
        assert table(plain, "throughput.csv") == table(other, "throughput.csv")
        flows = [
            {k: x for k, x in row.items() if k != "route"} for row in table(other, "flows.csv")
        ]
        assert table(plain, "flows.csv") == flows
        queue = [{**row, "port": row["port"].removeprefix("link1-")}
                 for row in table(other, "queue.csv")]  # fmt: skip
        assert table(plain, "queue.csv") == queue


BROKEN = {
    "nothing": set(),
    "a delay 1 % long": {"idle round trip long", "idle round trip link2"},
    "loss in a switch": {"drops elsewhere", "conservation link2-down", "bytes link2-down"},
    "a path that loses packets": {
        "drops elsewhere", "conservation link2-down", "bytes link2-down"
    },
    "a rare loss at a cross host": {
        "drops elsewhere", "conservation link2-down", "bytes link2-down"
    },
    "samples of another link": {"link sample bytes"},
    "a sample with too many bytes": {"link sample rows"},
    "a sample that is left out": {"link sample rows"},
}  # fmt: skip


def test_what_is_broken_on_one_link_fails_there(tmp_path: Path) -> None:
    trial = trials_of(tmp_path, TEXT)[0]
    lab = tmp_path / "lab"
    lab.mkdir()
    judged, failed = judge(lab, {"lot": trial}, [("lot", broken) for broken in BROKEN])
    assert not failed
    for (_, broken), verdicts in judged.items():
        assert {one["name"] for one in verdicts if not one["ok"]} == BROKEN[broken], verdicts
