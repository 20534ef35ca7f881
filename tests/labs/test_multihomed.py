# SPDX-License-Identifier: GPL-2.0-only
"""Clients with two links in the uml lab: TCP over one of them, and MPTCP over both.

The first run of the tests with MPTCP builds a kernel (3 minutes of two idle cores);
CELLBED_SLOW_TESTS=1.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from analysis.records import Trial, read_trial
from harness.api.experiment import Experiment
from harness.judge import judgement
from harness.kernels import store
from plan.atm import frame_cells
from tests.labs.test_broken_trials import judge
from tests.labs.test_reproducible import assert_same_records
from tests.small import run_trials, trials_of, write_small

pytestmark = pytest.mark.lab
slow = pytest.mark.skipif(
    "CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"
)

KERNEL = "6.12,config=+MPTCP"
RATES = (10_000_000, 5_000_000)
DELAYS_US = (8_000, 20_000)
HEAD = """
name = "paths"
title = "two links"
[factors]
"""
BASE = f"""
[base]
topology.kind = "multihomed"
topology.pairs = 1
topology.single_pairs = [1, 0]
topology.rate_bit_per_s = {[*RATES]}
topology.delay_us = {[*DELAYS_US]}
topology.mss_bytes = 1400
queue = {{ kind = "drop-tail", limit_packets = 40 }}
tcp = {{ flavor = "cubic", window_bytes = 500_000, ssthresh_bytes = 1_000_000_000 }}
workload = {{ kind = "mptcp", duration_s = 8, measure_from_s = 2 }}
record.queue_sample_ms = 10
"""
ONE_LINK = f'{HEAD}topology.links_used = ["link1", "link2"]\n{BASE}'
NETWORKS = f"""{HEAD}network = ["apart", "common", "leaves"]
{BASE}
[[rule]]
when.network = "common"
set.topology = {{ common_rate_bit_per_s = 4_000_000, common_delay_us = 1_000 }}
[[rule]]
when.network = "leaves"
set.workload.leave_link1_s = 5
"""


def run(folder: Path, text: str) -> list[Trial]:
    """Run an experiment with the kernel that its topology needs. All checks of all pass."""
    Experiment.from_file(write_small(folder, text)).run(folder / "out", progress=False)
    found = [read_trial(path) for path in judgement.records(folder / "out")]
    for trial in found:
        assert all(check.ok for check in trial.checks), trial.name
    return found


def table(trial: Trial, name: str) -> list[dict[str, str]]:
    with (trial.folder / name).open() as stream:
        return list(csv.DictReader(stream))


def connections(trial: Trial) -> list[dict[str, Any]]:
    return list(trial.document["source"]["connections"])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    """With links of their own, behind a common link, and with a client that leaves link1."""
    return run(tmp_path_factory.mktemp("both"), NETWORKS)


def test_a_client_uses_the_link_of_the_experiment(tmp_path: Path) -> None:
    """Without MPTCP, on set-up's kernel; pings over each link take what the link takes."""
    trials = trials_of(tmp_path, ONE_LINK)
    run_trials(tmp_path / "out", trials)
    cells = frame_cells(84)
    for path in judgement.records(tmp_path / "out"):
        trial = read_trial(path)
        link = str(trial.factors["topology.links_used"])
        at = ("link1", "link2").index(link)
        [*found] = trial.facts.routes[f"client-{link}"]["idle_round_trip_ns"]
        expected = cells * 424 / RATES[at] * 1e6 + DELAYS_US[at] + 2 * (cells * 2.831 + 5)
        assert all(one / 1e3 == pytest.approx(2 * expected, abs=1.5) for one in found)
        rows = table(trial, "links.csv")
        last = {row["port"]: int(row["ip_bytes"]) for row in rows}
        assert (last["link2-down"] > 1_000_000) == (link == "link2")
        share = trial.metrics["goodput_mbit_per_s"]
        assert share is not None and share > 3


MOVES = """\
time_s,rate_bit_per_s,down_delay_us,up_delay_us,loss,outage
0,10000000,8000,8000,0,0
2,4000000,15000,12000,0.01,0
4,,,,,1
4.5,8000000,5000,6000,0,0
"""
CHECKS = {"path begin", "path bytes", "path departures", "path delays", "path packets"}


def moving(folder: Path, text: str) -> str:
    """An experiment whose link1 moves."""
    (folder / "path.csv").write_text(MOVES)
    return text.replace("[base]\n", '[base]\ntopology.path = "path.csv"\n')


def test_one_of_two_links_moves(tmp_path: Path) -> None:
    """Each packet over link1 follows the path, and link2 stays as it is."""
    trials = trials_of(tmp_path, moving(tmp_path, ONE_LINK))
    documents = run_trials(tmp_path / "out", trials)  # all checks passed
    for document in documents.values():
        assert {check["name"] for check in document["checks"]} >= CHECKS
        down = document["path"]["down"]
        used = document["factors"]["topology.links_used"] == "link1"
        # The client with link1 only uses it in both trials.
        assert down["full"] >= 10 and 0 < down["sent"] - down["arrived"] < 100
        assert down["delay_off_ns"] <= 10 and down["departure_off_ns"] <= 10
        lost = document["losses"]["on_path"]
        assert lost["down"] == down["sent"] - down["arrived"]
        assert (document["links"]["link2-down"][1] > 1000) == (not used)


@slow
def test_mptcp_goes_on_over_the_link_that_stays(tmp_path: Path) -> None:
    text = f'{HEAD}topology.links_used = ["both"]\n{BASE}record.throughput_sample_ms = 100\n'
    [trial] = run(tmp_path, moving(tmp_path, text))
    assert {check.name for check in trial.checks} >= CHECKS
    had = {
        (row["pair"], int(row["time_ns"]) // 1_000_000): int(row["ip_bytes"])
        for row in table(trial, "throughput.csv")
    }
    # 100 ms after the outage began, nothing is in flight. Only pair 2 has link2.
    outage = {pair: had[pair, 4500] - had[pair, 4100] for pair in "123"}
    assert outage["1"] == outage["3"] == 0
    assert outage["2"] > 80_000


@slow
def test_mptcp_uses_both_links_and_shares_one_of_them(both: list[Trial]) -> None:
    apart, *_ = both
    first, second = (
        {int(row["pair"]): int(row["received_bytes"]) for row in table(apart, "flows.csv")}[pair]
        for pair in (1, 2)
    )
    assert min(first, second) > 1_000_000
    goodput = apart.metrics["goodput_mbit_per_s"]
    assert goodput is not None
    # More than link2 alone can carry: 40 of 48 bytes of a cell, less the headers.
    assert goodput > 5 * 40 / 53 + 1
    assert apart.metrics["subflows"] == 2
    one, single = connections(apart)
    assert (one["pairs"], single["pairs"]) == ([1, 2], [3])
    assert one["counters"]["client MPJoinSynAckRx"] == 1 and not single["counters"]
    assert [row["pairs"] for row in table(apart, "connections.csv")] == ["1 2", "3"]


@slow
def test_what_each_link_carries_comes_to_the_address_behind_it(both: list[Trial]) -> None:
    """But for what is in flight: at most what the link sends in its delay, and two packets."""
    for trial in both:
        rows = table(trial, "throughput.csv")
        for at, (link, pairs) in enumerate((("link1", "13"), ("link2", "2"))):
            in_flight = RATES[at] / 8 * (DELAYS_US[at] + 10) / 1e6 + 2 * 1440
            for row in table(trial, "links.csv"):
                if row["port"] != f"{link}-down":
                    continue
                came = sum(
                    int(one["ip_bytes"])
                    for one in rows
                    if one["time_ns"] == row["time_ns"] and one["pair"] in pairs
                )
                assert 0 <= int(row["ip_bytes"]) - came <= in_flight


@slow
def test_the_same_trial_gives_the_same_bytes(both: list[Trial], tmp_path: Path) -> None:
    """In another lab."""
    run(tmp_path, NETWORKS)
    names = [trial.name for trial in both]
    assert_same_records(names, both[0].folder.parents[1], tmp_path / "out")


@slow
def test_a_client_that_leaves_a_link_goes_on_over_the_other(both: list[Trial]) -> None:
    trial = both[-1]
    one, _ = connections(trial)
    first, second = one["paths"]
    assert first["left"] and not first["still"] and one["subflows"] == 1
    assert first["received_bytes"] > 1_000_000
    rows = [row for row in table(trial, "throughput.csv") if row["pair"] in "12"]
    after = {
        pair: [int(row["ip_bytes"]) for row in rows
               if row["pair"] == pair and int(row["time_ns"]) >= 6_000_000_000]
        for pair in "12"
    }  # fmt: skip
    assert after["1"][-1] == after["1"][0]
    assert after["2"][-1] > after["2"][0] + 400_000
    assert second["received_bytes"] > 1_000_000
    pause = trial.metrics["pause_ms"]
    # A round trip over link2 and its full queue is less than a second.
    assert pause is not None and 0 < pause < 1000
    assert both[0].metrics["pause_ms"] is None


BROKEN = {
    "nothing": set(),
    "a client that hides its second address": {"subflows", "receiver window"},
    "a server without mptcp": {"subflows", "mptcp fallback", "receiver window"},
    "a second subflow over the first link": {"subflow bytes"},
    "a receiver that forgets a block": {"connection bytes"},
    "a client that stays": {"left links", "connection bytes", "subflow bytes"},
    "a delay 1 % long": {"idle round trip mptcp-link2"},
    "loss in a switch": {"drops elsewhere", "conservation link1-down", "bytes link1-down"},
}


@slow
def test_what_is_broken_fails(tmp_path: Path) -> None:
    apart, _, leaves = trials_of(tmp_path, NETWORKS)
    lab, kernel = tmp_path / "lab", store.ready(KERNEL)
    lab.mkdir()
    assert kernel is not None
    todo = [("leaves" if "stays" in broken else "apart", broken) for broken in BROKEN]
    judged, failed = judge(lab, {"apart": apart, "leaves": leaves}, todo, kernel.folder)
    assert not failed
    for (_, broken), verdicts in judged.items():
        assert {one["name"] for one in verdicts if not one["ok"]} == BROKEN[broken], verdicts
