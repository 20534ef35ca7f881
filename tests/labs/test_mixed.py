# SPDX-License-Identifier: GPL-2.0-only
"""Two flavors on one link, in the uml lab: which pair had which, as its sockets say."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

MIXED = """
name = "mixed"
title = "flavors in turn, and then one for all"
[factors]
flavors = ["cubic and bbr", "sack alone"]
[base]
topology = { pairs = 3, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 300 }
tcp = { flavor = ["cubic", "bbr"], window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 3 }
[[rule]]
when = { flavors = "sack alone" }
set = { tcp.flavor = "sack" }
"""


def test_each_pair_s_sender_has_its_flavor(tmp_path: Path) -> None:
    """After a list comes one flavor, in the same lab: every host has it again."""
    mixed, alone = run_trials(tmp_path / "out", trials_of(tmp_path, MIXED)).values()
    assert mixed["congestion"] == {"1": ["cubic"], "2": ["bbr"], "3": ["cubic"]}
    samples = mixed["tcp"]["samples"]["1"]
    assert all(re.search(rf"\b{name} wscale:", samples) for name in ("cubic", "bbr")), samples
    assert [c["ok"] for c in mixed["checks"] if c["name"] == "flavors"] == [True]
    assert "congestion" not in alone and "cubic" not in alone["tcp"]["samples"]["1"]
    assert columns(tmp_path, mixed["trial"])["flavor"] == ["cubic", "bbr", "cubic"]
    assert "flavor" not in columns(tmp_path, alone["trial"])


def columns(folder: Path, trial: str) -> dict[str, list[str]]:
    with (folder / "out" / "trials" / trial / "flows.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}
