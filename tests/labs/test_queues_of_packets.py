# SPDX-License-Identifier: GPL-2.0-only
"""Queues without cells in the uml lab, with drops and with marks."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.labs.test_reproducible import assert_same_records
from tests.small import TINY, run_trials, write_tiny

pytestmark = pytest.mark.lab

# Drop tail has nothing to mark with; some have no limit unless they are given one.
MARKING = ["codel", "pie", "fq-codel", "fq-pie", "cake", "adaptive-red", "adaptive-red-ns2"]
LIMITS = {"drop-tail": 20, "adaptive-red": 100, "adaptive-red-ns2": 100}
DESIGN = f"""
queue = {json.dumps([*MARKING, "drop-tail"])}
ecn = ["no", "yes"]
[[only]]
queue = {json.dumps(MARKING)}
[[only]]
queue = ["drop-tail"]
ecn = ["no"]
"""
RULES = f"""
record.queue_sample_ms = 20
[[rule]]
when = {{ ecn = "yes" }}
set = {{ tcp.sysctl.tcp_ecn = 1 }}
[[rule]]
when = {{ ecn = "yes", queue = {json.dumps([kind for kind in MARKING if kind != "cake"])} }}
set = {{ queue.ecn = true }}
"""


def rule(kind: str) -> str:
    """A kind of queue where the level says so, with the limit that it needs."""
    limit = f", limit_packets = {LIMITS[kind]}" if kind in LIMITS else ""
    return f'[[rule]]\nwhen = {{ queue = "{kind}" }}\nset.queue = {{ kind = "{kind}"{limit} }}\n'


def test_what_is_dropped_or_marked_and_every_packet_is_accounted_for(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    text = TINY.replace('queue = { policy = "plain", buffer_cells = 300 }\n', "")
    text = text.replace('flavor = "sack"', 'flavor = "cubic"').replace("_s = 2", "_s = 6")
    text = text.replace('flavor = ["SACK"]\n', DESIGN) + RULES
    text += "".join(map(rule, [*MARKING, "drop-tail"]))
    path.write_text(text)
    trials = planned(experiment.load(path), path)
    documents = run_trials(tmp_path / "out", trials)  # all checks passed
    assert len(documents) == 15
    for document in documents.values():
        names = {check["name"] for check in document["checks"]}
        assert {"link rate", "idle round trip", "conservation down"} <= names
        assert document["metrics"]["efficiency"] > 0.8
        rates = document["probed_rate_bit_per_s"]
        assert all(abs(rate / 10_000_000 - 1) < 1e-4 for rate in rates.values()), rates
        counters = document["queue"]["down"]
        marks = document["factors"]["ecn"] == "yes"
        # With marks, what cannot be marked is dropped.
        more, less = ("marked", "drops") if marks else ("drops", "marked")
        assert counters[more] > counters[less] and (marks or not counters[less]), counters
        series(tmp_path / "out/trials" / document["trial"] / "queue.csv", counters)
    # What a queue draws begins with the trial: at another place of a lab it is the same.
    dropping = [trial for trial in trials if trial.plan.factors["ecn"] == "no"]
    run_trials(tmp_path / "again", dropping[::-1], jobs=1)
    assert_same_records([x.name for x in dropping], tmp_path / "again", tmp_path / "out")


def series(path: Path, counters: dict[str, int]) -> None:
    """The queue filled; drops and marks grow, up to what the counters say at the end."""
    with path.open() as stream:
        down = [row for row in csv.DictReader(stream) if row["port"] == "down"]
    assert max(int(row["backlog_packets"]) for row in down) > 0
    for column, counter in (("dropped_packets", "drops"), ("marked_packets", "marked")):
        counted = [int(row[column]) for row in down]
        assert counted == sorted(counted) and counted[-1] <= counters[counter]
        assert bool(counted[-1]) == bool(counters[counter])
