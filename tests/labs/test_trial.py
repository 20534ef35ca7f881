# SPDX-License-Identifier: GPL-2.0-only
"""Real trials in the uml lab: every check holds, and the settings are what was asked for."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tests.small import run_trials, small_trials

pytestmark = pytest.mark.lab

Finished = tuple[Path, list[dict]]


def test_every_trial_is_valid(finished: Finished) -> None:
    for document in finished[1]:
        failed = [check for check in document["checks"] if not check["ok"]]
        assert document["valid"] and not failed, failed


def test_the_record_is_whole_and_nothing_else_is_there(finished: Finished) -> None:
    folder, documents = finished
    assert {p.name for p in (folder / "trials").iterdir()} == {d["trial"] for d in documents}
    for document in documents:
        place = folder / "trials" / document["trial"]
        tables = {
            f"{name}.csv" for name in ("flows", "requests", "queue", "drops", "cwnd", "throughput")
        }
        others = {"trial.json", "lab.json", "run.json", "judgement.json", "SHA256SUMS"}
        assert {p.name for p in place.iterdir()} == tables | others


def test_the_same_seed_offers_the_same_load(finished: Finished) -> None:
    folder, documents = finished
    offered = set()
    for document in documents:
        with (folder / "trials" / document["trial"] / "requests.csv").open() as stream:
            rows = [(r["pair"], r["due_ns"], r["size_bytes"]) for r in csv.DictReader(stream)]
        offered.add(json.dumps(rows))
    assert len(offered) == 1


def test_live_connections_have_the_flavor(finished: Finished) -> None:
    for document in finished[1]:
        network, flavor = document["factors"]["network"], document["factors"]["flavor"]
        shown = document["tcp"]["samples"]["1"]
        assert f"cellbed_{flavor.lower()}" in shown
        assert ("sack" in shown.replace("cellbed_sack", "")) == (flavor == "SACK")
        assert f"mss:{1024 if network == 'WAN' else 9180} " in shown
        assert re.search(r"cwnd:\d+", shown)


def test_idle_round_trip_of_550_ms(finished: Finished) -> None:
    geo = [d for d in finished[1] if d["factors"]["network"] == "GEO"]
    assert geo
    for document in geo:
        assert all(abs(t - 550e6) < 0.3e6 for t in document["idle_round_trip_ns"])


def test_costs_are_measured(finished: Finished) -> None:
    for document in finished[1]:
        assert 0.05 < document["cpu_s"] < 100 and document["wall_s"] > 0.05


def test_drops_are_told_one_by_one(finished: Finished) -> None:
    folder, documents = finished
    for document in documents:
        frames = document["queue"]["down"]["frames"]
        with (folder / "trials" / document["trial"] / "drops.csv").open() as stream:
            told = sum(row["port"] == "down" for row in csv.DictReader(stream))
        assert told == frames["in"] - frames["delivered"]


def test_congestion_windows_are_followed(finished: Finished) -> None:
    folder, documents = finished
    for document in documents:
        with (folder / "trials" / document["trial"] / "cwnd.csv").open() as stream:
            rows = [{k: int(v) for k, v in row.items()} for row in csv.DictReader(stream)]
        inside = [row for row in rows if 0 <= row["time_ns"] < 12_000_000_000]
        grid = [(time_ns, pair) for time_ns in range(0, 12_000_000_000, 100_000_000)
                for pair in (2, 4)]  # fmt: skip
        assert [(row["time_ns"], row["pair"]) for row in inside] == grid
        first = document["plan"]["tcp"]["ssthresh_segments"]
        assert all(row["ssthresh_segments"] == first for row in inside[:2])
        assert inside[0]["cwnd_segments"] < max(row["cwnd_segments"] for row in inside)


def test_a_second_run_does_nothing(finished: Finished, tmp_path: Path) -> None:
    folder, documents = finished
    before = {p: p.stat().st_mtime_ns for p in (folder / "trials").rglob("*")}
    again = run_trials(folder, small_trials(tmp_path))
    assert set(again) == {d["trial"] for d in documents}
    assert before == {p: p.stat().st_mtime_ns for p in (folder / "trials").rglob("*")}


def test_a_trial_after_others_begins_like_the_first(finished: Finished) -> None:
    """Two labs ran two trials each: sockets, routes and sysctls start alike in all."""
    for document in finished[1]:
        before = document["system"]["before"]
        assert any(line.startswith("TCP: inuse 0 orphan 0 tw 0") for line in before["sockets"])
        assert all("Sent 0 bytes 0 pkt" in qdisc for qdisc in before["qdiscs"])
