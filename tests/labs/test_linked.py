# SPDX-License-Identifier: GPL-2.0-only
"""Senders and receivers in two labs on one link: the same as in one lab, and the same each time."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.api.kernels import kernels_of
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.labs import LabSpec
from harness.labs.session import session
from plan.errors import LabError
from tests.labs.test_reproducible import assert_same_records
from tests.small import TINY, run_trials, write_small

pytestmark = pytest.mark.lab

TEXT = (
    TINY.replace('policy = "plain", buffer_cells = 300', 'kind = "drop-tail", limit_packets = 12')
    .replace('["SACK"]', '["CUBIC", "RENO"]')
    .replace('flavor = "sack"', 'flavor = "cubic-rack"')
    + '[[rule]]\nwhen.flavor = "RENO"\nset.tcp.flavor = "linux-reno"\n'
    + "[base.record]\nqueue_sample_ms = 20\ncwnd_sample_ms = 20\nthroughput_sample_ms = 100\n"
)
# Then the sources stop, and iperf3's programs end each test by messages to each other.
INTERVAL_NS = 2 * 10**9
SLOW = pytest.mark.skipif(
    "CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"
)


def trials(folder: Path, receiver: str = "", text: str = TEXT) -> list[PlannedTrial]:
    """The trials of TEXT; receiver: the name of the receivers' kernel."""
    folder.mkdir(exist_ok=True)
    if receiver:
        text += f'[base.lab]\nreceiver_kernel = "{receiver}"\n'
    path = write_small(folder, text)
    return planned(experiment.load(path), path, kernels=kernels_of("uml", None, None))


def run(folder: Path, wanted: Sequence[PlannedTrial]) -> dict[str, Path]:
    """Run trials one after the other; the folder of each flavor's record."""
    run_trials(folder, list(wanted))
    return {str(one.factors["flavor"]): folder / "trials" / one.name for one in wanted}


def in_interval(table: Path) -> list[list[str]]:
    """The rows of a table of a record up to the end of the measured interval."""
    with table.open(newline="", encoding="ascii") as stream:
        _, *rows = csv.reader(stream)
    return [row for row in rows if int(row[0]) <= INTERVAL_NS]


def test_two_labs_with_one_kernel_are_as_one_lab(tmp_path: Path) -> None:
    """And two labs are so each time, whatever they ran before. Every check passes (run_trials)."""
    one = run(tmp_path / "one", trials(tmp_path / "a"))
    linked = trials(tmp_path / "b", "6.12")
    two = run(tmp_path / "two", linked)
    run(tmp_path / "again", linked[::-1])
    assert_same_records([trial.name for trial in linked], tmp_path / "two", tmp_path / "again")
    assert one.keys() == two.keys()
    for flavor, folder in one.items():
        assert (folder / "flows.csv").read_bytes() == (two[flavor] / "flows.csv").read_bytes()
        for name, fewest in (("cwnd.csv", 200), ("queue.csv", 200), ("throughput.csv", 40)):
            rows = in_interval(folder / name)
            assert len(rows) >= fewest
            assert rows == in_interval(two[flavor] / name), (flavor, name)
        facts, linked_facts = (
            json.loads((record / "lab.json").read_text()) for record in (folder, two[flavor])
        )
        assert facts["marks"] == linked_facts["marks"]
        assert facts["idle_round_trip_ns"] == linked_facts["idle_round_trip_ns"]
        assert facts["probed_rate_bit_per_s"] == linked_facts["probed_rate_bit_per_s"]


def test_a_lab_that_fails_takes_the_other_along(tmp_path: Path) -> None:
    """The other would wait for it for ever."""
    [trial, _] = trials(tmp_path, "6.12")
    spec = LabSpec(pairs=2, kernel=trial.kernel, receiver=trial.receiver)
    with session("uml", spec) as lab:
        lab.submit_network(trial.plan.topology)
        wanted = trial.plan.tcp.flavor
        wrong = replace(trial.plan.tcp, flavor=replace(wanted, congestion="no-such"))
        lab.submit_trial("wrong", replace(trial.plan, tcp=wrong))
        with pytest.raises(LabError, match=r"the (senders|receivers)' lab: .*no-such"):
            for _ in lab.events():
                pass
    assert lab.poll() is not None


@SLOW
def test_receivers_of_another_release(tmp_path: Path) -> None:
    """The first run builds Linux 6.1."""
    mixed = trials(tmp_path / "a", "6.1")
    first = run(tmp_path / "first", mixed)
    run(tmp_path / "again", mixed)
    assert_same_records([trial.name for trial in mixed], tmp_path / "first", tmp_path / "again")
    facts = json.loads((first["CUBIC"] / "lab.json").read_text())
    assert facts["versions"]["kernel"].startswith("6.12.")
    assert facts["receivers"]["versions"]["kernel"].startswith("6.1.")
    asked = json.loads((first["CUBIC"] / "trial.json").read_text())
    assert asked["software"]["receiver_release"].startswith("6.1.")
