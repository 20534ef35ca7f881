# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that records TCP's calls: the same packets as without. It is built: slow."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare.calls import LEAVES
from analysis.compare.difference import divergence
from analysis.records import Trial, read_trial
from harness.kernels import store
from tests.labs.test_compare import written
from tests.labs.test_trace import TEXT, rows, tables
from tests.small import PROJECT, run_trials, trials_of

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
NAME = "6.12,config=+FTRACE,config=+ENABLE_DEFAULT_TRACERS,config=+CELLBED_CALLS"
EVENTS = '["calls:enter", "calls:segment"]'


def test_neither_the_kernel_nor_its_events_change_a_packet(tmp_path: Path) -> None:
    text = TEXT.replace('["tcp:tcp_probe", "tcp:tcp_retransmit_skb"]', EVENTS)
    plain, recorded = trials_of(tmp_path, text)
    kernel = store.ready(NAME)
    assert kernel is not None
    silent, recorded = (replace(one, kernel=kernel.folder) for one in (plain, recorded))
    found: dict[str, Trial] = {}
    for name, one in (("plain", plain), ("silent", silent), ("recorded", recorded)):
        run_trials(tmp_path / name, [one])
        found[name] = read_trial(tmp_path / name / "trials" / one.name)
    assert divergence(found["plain"], found["silent"]) is None
    before, after = (tables(found[name].folder) for name in ("silent", "recorded"))
    assert after.pop("trace.csv") and after == before
    sent = [row for row in rows(found["recorded"].folder / "trace.csv") if row["seq"]]
    assert sum(int(row["payload_bytes"]) for row in sent) > 3e6


def test_compare_prints_the_functions_of_the_first_segment_that_differs(tmp_path: Path) -> None:
    written(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "harness", "compare", "tiny.toml", "--factor", "flavor=SACK,larger",
         "--calls"], capture_output=True, text=True, timeout=3000, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    said = done.stdout.splitlines()
    at = said.index("functions of TCP that the segment went through:")
    assert said[at - 4].startswith("the first call of TCP that differs")
    functions = {line[1:].strip() for line in said[at + 3 :]}
    assert {"tcp_v4_rcv", "__tcp_transmit_skb", LEAVES} <= functions, done.stdout
