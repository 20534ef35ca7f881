# SPDX-License-Identifier: GPL-2.0-only
"""A queue without cells in the uml lab: CoDel, with drops and with marks."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from harness.design import experiment, plan
from tests.small import TINY, run_trials, write_tiny

pytestmark = pytest.mark.lab

FACTORS = 'flavor = ["SACK"]\n'
CODEL = """
[[rule]]
when = { ecn = "yes" }
set = { queue.ecn = true, tcp.sysctl.tcp_ecn = 1 }
"""


def test_codel_drops_or_marks_and_every_packet_is_accounted_for(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    text = TINY.replace('policy = "plain", buffer_cells = 300', 'kind = "codel"')
    text = text.replace('flavor = "sack"', 'flavor = "cubic"').replace("_s = 2", "_s = 6")
    text = text.replace(FACTORS, 'ecn = ["no", "yes"]\n') + "record.queue_sample_ms = 20\n" + CODEL
    path.write_text(text)
    trials = plan.trials(experiment.load(path), path)
    documents = run_trials(tmp_path / "out", trials)  # all checks passed
    drops, marks = (documents[trial.name] for trial in trials)
    for document in (drops, marks):
        names = {check["name"] for check in document["checks"]}
        assert {"idle round trip", "conservation down", "conservation up"} <= names
        assert document["metrics"]["efficiency"] > 0.9
    assert drops["queue"]["down"]["drops"] > 0 and drops["queue"]["down"]["ecn_mark"] == 0
    assert marks["queue"]["down"]["drops"] == 0 and marks["queue"]["down"]["ecn_mark"] > 0
    rows = list(csv.DictReader((tmp_path / "out/trials" / marks["trial"] / "queue.csv").open()))
    down = [row for row in rows if row["port"] == "down"]
    assert max(int(row["backlog_packets"]) for row in down) > 0
    counted = [int(row["marked_packets"]) for row in down]
    assert counted == sorted(counted) and 0 < counted[-1] <= marks["queue"]["down"]["ecn_mark"]
