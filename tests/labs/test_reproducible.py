# SPDX-License-Identifier: GPL-2.0-only
"""The same trial gives the same record, byte for byte, wherever and after whatever it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from harness.flavors import files as flavors
from tests.small import PROJECT, TINY, run_trials, small_trials, trials_of

pytestmark = pytest.mark.lab


# What tells of the run and not of the trial, and the checksums, which have it in them.
OF_THE_RUN = {"run.json", "SHA256SUMS"}
RECORD = "record = { drops = true, queue_sample_ms = 20 }\n"


def assert_same_records(names: list[str], ours: Path, theirs: Path) -> None:
    """Trials of two campaigns, but for what tells of the run."""
    for name in names:
        one, other = (folder / "trials" / name for folder in (ours, theirs))
        files = {path.name for path in other.iterdir()}
        assert {path.name for path in one.iterdir()} == files and files > OF_THE_RUN
        for file in files - OF_THE_RUN:
            assert (one / file).read_bytes() == (other / file).read_bytes(), one / file


def test_another_order_in_another_lab_changes_nothing(
    finished: tuple[Path, list[dict]], tmp_path: Path
) -> None:
    """`finished` ran two labs side by side; here one lab runs the same trials backwards."""
    folder, documents = finished
    run_trials(tmp_path / "out", small_trials(tmp_path)[::-1], jobs=1)
    assert_same_records([document["trial"] for document in documents], tmp_path / "out", folder)


@pytest.mark.parametrize("kind", ["iperf", "wrk"])
def test_those_of_which_the_agent_keeps_the_time_too(tmp_path: Path, kind: str) -> None:
    """Seed by seed, and each first in a lab; the times in tables count from the trial's start."""
    text = TINY.replace('"iperf"', f'"{kind}"') + RECORD
    trials = trials_of(tmp_path, text, seeds=4)
    run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "four", trials[::-1], jobs=len(trials))
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "four")


def test_each_stock_sender_at_two_places_in_a_lab(tmp_path: Path) -> None:
    """What it draws begins with the trial: BBR where its cycle of gains begins."""
    stock = [x.name for x in flavors.load_all() if x.module != flavors.MODULE]
    assert {"linux-reno", "cubic", "bbr"} <= {*stock}
    text = TINY.replace('["SACK"]', json.dumps(stock)).replace("duration_s = 2", "duration_s = 6")
    text += RECORD + "".join(
        f'[[rule]]\nwhen.flavor = "{name}"\nset.tcp.flavor = "{name}"\n' for name in stock
    )
    trials = trials_of(tmp_path, text)
    run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "other", trials[::-1], jobs=1)
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")


def test_long_timers_at_two_places_in_a_lab(tmp_path: Path) -> None:
    """The kernel rounds a timer of more than half a second by 64 ms or more, counted from its
    start: a SYN or a segment that is lost twice waits for such a one."""
    text = TINY.replace("duration_s = 2", "duration_s = 8, start_jitter_us = 0").replace(
        'flavor = "sack"', 'flavor = "reno"'
    )
    text = text.replace("mss_bytes = 1024 }", "mss_bytes = 1024, loss.share = 0.2 }")
    trials = trials_of(tmp_path, text + RECORD, seeds=3)
    run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "other", trials[::-1], jobs=1)
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")


SUITE = PROJECT / "studies" / "kernel_cc" / "suite.toml"
PLACE = ("rate=5", "rtt=160", "queue=fq-codel", "flows=6")


def test_long_waits_at_two_places_in_a_lab(tmp_path: Path) -> None:
    """A wait of many seconds ends at its moment, whatever timers earlier trials have left.

    iperf3 waits by select(), for which Linux allows a thousandth of the wait (kernel patch 0022).
    """
    trials = planned(experiment.load(SUITE), SUITE, PLACE, 1)
    assert len(trials) == 3  # a sender each
    run_trials(tmp_path / "one", trials, jobs=1)
    run_trials(tmp_path / "other", trials[::-1], jobs=1)
    assert_same_records([trial.name for trial in trials], tmp_path / "one", tmp_path / "other")
