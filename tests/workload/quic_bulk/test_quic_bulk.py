# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources over QUIC: their keys, their requests, what flows.csv has, and their check."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plan.facts import TrialFacts, read
from plan.plan import WORKLOADS, from_json
from tests.made_plans import plan_json
from tests.small import trials_of
from workload.errors import WorkloadError
from workload.iperf import Parameters as OfIperf
from workload.iperf.iperf3 import starts_ns
from workload.quic.lines import header, line
from workload.quic.qlog import Log
from workload.quic_bulk import Parameters, Source, checks

S = 1_000_000_000
EXPERIMENT = """
name = "quic"
title = "quic"
[factors]
workload.stack = ["ngtcp2"]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1460 }
queue = { kind = "drop-tail", limit_packets = 50 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "quic-bulk", duration_s = 4, measure_from_s = 2 }
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("duration_s", 0),
        ("duration_s", 1.5),
        ("measure_from_s", 100),
        ("start_jitter_us", 100_000_001),
        ("late_start_us", 100_000_001),
        ("file_bytes", 65_535),
        ("file_bytes", (1 << 28) + 1),
        ("client_window_bytes", 16_383),
        ("stack", "nginx"),
        ("congestion", "vegas"),
        ("qlog", "client"),
    ],
)
def test_bad_parameters(key: str, value: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"^workload\.{key}(: the last source would start| = {value}: )"
    ):
        Parameters(**{key: value})


def test_a_stack_has_only_its_own_congestion_controls() -> None:
    with pytest.raises(WorkloadError, match=r"^workload.congestion = bbr: aioquic has only cubic"):
        Parameters(stack="aioquic", congestion="bbr")


def test_an_experiment_names_it_with_a_dash_and_gets_starts_of_its_path(tmp_path: Path) -> None:
    [trial] = trials_of(tmp_path, EXPERIMENT)
    params = trial.plan.workload
    assert isinstance(params, Parameters) and WORKLOADS.name_of(params) == "quic-bulk"
    assert params.ends_s == (2, 4) and params.duration_ns == 4 * S
    assert 10_000 < params.jitter_us < 20_000


def source(folder: Path, pairs: int = 2, **keys: Any) -> Source:
    """A source that only plans and writes."""
    clients = [SimpleNamespace(pair=pair) for pair in range(1, pairs + 1)]
    testbed: Any = SimpleNamespace(folder=folder, seed=3, clients=clients, servers=clients)
    return Source(testbed, Parameters(duration_s=4, measure_from_s=1, **keys))


def test_a_client_asks_for_half_a_file_and_for_a_whole_file_at_its_start(tmp_path: Path) -> None:
    one = source(tmp_path, file_bytes=100_000, start_jitter_us=500_000)
    asked = one._requests()
    assert [(row.pair, row.path, row.size_bytes) for row in asked] == [
        (1, "/50000", 50_000), (1, "/100000", 100_000),
        (2, "/50000", 50_000), (2, "/100000", 100_000),
    ]  # fmt: skip
    starts = starts_ns(OfIperf(measure_from_s=1, start_jitter_us=500_000), 3, 2)
    assert [row.due_ns for row in asked] == [starts[0]] * 2 + [starts[1]] * 2
    documents = one._documents(tmp_path)
    for row in asked:
        assert (documents / row.path.lstrip("/")).stat().st_size == row.size_bytes
    assert one._of_clients() == {"marks_ns": [S, 4 * S]}


def facts_of_client(pair: int, marks: list[int], **more: Any) -> dict[str, Any]:
    """What the clients' program says of a pair."""
    return {
        "pair": pair, "stream_bytes": marks[-1], "marked_bytes": marks, "answered": 3, "sent": 5,
        "unsent": 0, "under_way": 2, "bad_status": 0, "unexplained_bytes": 0, "late_ns": 0,
        "ended": "", "least_left_bytes": 40_000, **more,
    }  # fmt: skip


def test_flows_are_those_of_the_measured_interval(tmp_path: Path) -> None:
    one = source(tmp_path)
    facts = [facts_of_client(1, [1000, 9000]), facts_of_client(2, [0, 500], answered=0, sent=2)]
    found = one._of_requests(facts, one._requests())
    with (tmp_path / "flows.csv").open() as stream:
        rows = [(row["pair"], row["received_bytes"]) for row in csv.DictReader(stream)]
    assert rows == [("1", "8000"), ("2", "500")]
    assert found["delivered_bytes"] == [8000, 500]
    assert found["received_whole_bytes"] == [9000, 500]
    assert (found["measured_s"], found["whole_s"]) == (3.0, 4.0)
    assert found["least_left_bytes"] == [40_000, 40_000]
    # Two requests under way, and one for each answer.
    assert (found["offered"], found["answered"], found["waiting"]) == (7, 3, 0)


def test_the_most_data_in_flight_is_what_the_log_had_at_some_moment(tmp_path: Path) -> None:
    path = tmp_path / "s1.sqlog"
    rows = [
        line({"time": 1, "name": "recovery:metrics_updated", "data": {"bytes_in_flight": flight}})
        for flight in (3000, 4500, 0)
    ]
    path.write_text(line(header("ngtcp2", "server", "ab12", "0.3")) + "".join(rows))
    log = Log(path)
    list(log.events())
    assert log.most_flight_bytes == 4500
    assert source(tmp_path)._of_logs([log]) == {"most_flight_bytes": [4500]}


# The check.

PLAN = from_json(plan_json(workload="quic-bulk"))


def trial_facts(**facts: object) -> TrialFacts:
    good = {"least_left_bytes": [9000], "most_flight_bytes": [3000]}
    return read(TrialFacts, json.loads(json.dumps({"source": {**good, **facts}})))


@pytest.mark.parametrize("least", [9000, None])
def test_a_source_with_three_windows_left_or_with_its_first_file_had_data(least: object) -> None:
    assert checks.unsent_data(trial_facts(least_left_bytes=[least]), PLAN)["ok"]


@pytest.mark.parametrize(
    ("bad", "measured"),
    [
        ({"least_left_bytes": [8999]}, 1),
        ({"most_flight_bytes": [3001]}, 1),
        ({"least_left_bytes": [0]}, 1),
        ({"least_left_bytes": []}, None),
        ({"most_flight_bytes": []}, None),
        ({"most_flight_bytes": [3000, 3000]}, None),
    ],
)
def test_the_check_fails_where_a_source_may_have_had_nothing(bad: dict, measured: object) -> None:
    found = checks.unsent_data(trial_facts(**bad), PLAN)
    assert (found["ok"], found["measured"]) == (False, measured)
