# SPDX-License-Identifier: GPL-2.0-only
"""Web traffic in the uml lab: the experiment web-small, and what its records say."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from plan.atm import CELL_BITS
from tests.labs.test_reproducible import assert_same_records
from tests.small import PROJECT, run_trials
from topology.queues.cells import Settings

pytestmark = pytest.mark.lab

SMALL = PROJECT / "studies/web_2003/web-small.toml"


def trials_small() -> list[PlannedTrial]:
    return planned(experiment.load(SMALL), SMALL)


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "trials" / name / "exchanges.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_all_queues_carry_one_trace(tmp_path: Path) -> None:
    trials = trials_small()
    documents = run_trials(tmp_path / "one", trials)  # all checks passed
    asked = ("direction", "connection", "round_trip_ns", "request_bytes", "response_bytes")
    traces = {
        tuple(tuple(row[key] for key in asked) for row in rows_of(tmp_path / "one", name))
        for name in documents
    }
    assert len(traces) == 1
    for document in documents.values():
        assert {"handshakes", "delay faults", "requests"} <= {c["name"] for c in document["checks"]}
        source, marked = document["source"], document["queue"]["down"]["marked"]
        assert (source["answered"], source["outstanding"]) == (2000, 0)
        marks = document["factors"]["queue"] == "ARED+ECN"
        # Every one, also those of which a SYN was sent again.
        assert (bool(marked), source["ecn_share"]) == (marks, float(marks))
        for row in rows_of(tmp_path / "one", document["trial"]):
            times = [int(row[f"{n}_ns"]) for n in ("begun", "connected", "first_byte", "last_byte")]
            least = int(row["round_trip_ns"])
            assert times == sorted(times) and times[1] - times[0] > least
            assert times[3] - times[0] > 2 * least + int(row["server_delay_ns"])


def test_a_trial_is_the_same_before_and_after_others_also_where_drops_are_by_chance(
    tmp_path: Path,
) -> None:
    """And no connection waits for another's round trip: 240 packets each way are 0.66 s."""
    tail, early, marking = trials_small()
    run_trials(tmp_path / "first", [tail, early, marking])
    documents = run_trials(tmp_path / "second", [marking, early, tail])
    assert documents[early.name]["queue"]["down"]["early"] > 0
    names = [tail.name, early.name, marking.name]
    assert_same_records(names, tmp_path / "first", tmp_path / "second")
    for row in rows_of(tmp_path / "first", tail.name):
        took_ns = int(row["connected_ns"]) - int(row["begun_ns"])
        assert took_ns - int(row["round_trip_ns"]) < 700_000_000


def with_workload(trial: PlannedTrial, name: str, **changes: object) -> PlannedTrial:
    workload = replace(trial.plan.workload, **changes)
    return PlannedTrial(name=name, plan=replace(trial.plan, workload=workload))


def test_what_is_not_finished_is_counted(tmp_path: Path) -> None:
    """The last connection begins after 18.6 s; the longest round trip is 3.5 s."""
    [trial, *_] = trials_small()
    [document] = run_trials(tmp_path, [with_workload(trial, "cut", duration_s=19)]).values()
    source = document["source"]
    assert source["outstanding"] > 0 and source["unsent"] == 0
    assert source["answered"] + source["outstanding"] == 2000
    rows = rows_of(tmp_path, "cut")
    assert sum(row["state"] != "done" for row in rows) == source["outstanding"]
    assert all(bool(row["last_byte_ns"]) == (row["state"] == "done") for row in rows)


def test_some_connections_of_http_1_1_carry_several_exchanges(tmp_path: Path) -> None:
    """A later one begins when the trace says, after the last byte of the one before."""
    [trial, *_] = trials_small()
    run_trials(tmp_path, [with_workload(trial, "persistent", http="1.1")])
    rows = rows_of(tmp_path, "persistent")
    later = [(one, two) for one, two in pairwise(rows) if int(two["exchange"])]
    begun = [(one, two) for one, two in later if two["begun_ns"]]
    # A gap between pages may last longer than the trial.
    assert len(later) > 100 and len(begun) > 0.95 * len(later)
    for before, after in begun:
        assert after["connection"] == before["connection"] and not after["connected_ns"]
        assert int(after["begun_ns"]) > int(before["last_byte_ns"])


def test_the_link_carries_what_the_trace_offers(tmp_path: Path) -> None:
    """In cells, as the link's own watch counts them, over a queue that loses nothing."""
    [trial, *_] = trials_small()
    down, up = Settings(policy="plain", buffer_cells=1_000_000).ports(1460)
    queues = replace(trial.plan.queue, down=down, up=up)
    roomy = PlannedTrial(name="roomy", plan=replace(trial.plan, queue=queues))
    [document] = run_trials(tmp_path, [roomy]).values()
    trace = document["source"]["trace"]
    for direction, offered in zip(("down", "up"), trace["offered_percent"], strict=True):
        bits = document["queue"][direction]["wire"]["cells"] * CELL_BITS
        carried = 100 * bits / trace["duration_s"] / trial.plan.topology.rate_bit_per_s
        assert carried == pytest.approx(offered, rel=0.01)
