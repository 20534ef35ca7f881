# SPDX-License-Identifier: GPL-2.0-only
"""Flavors whose congestion control is a module of the lab kernel's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis.records import read_campaign
from harness.flavors import files as flavors
from tests.small import PROJECT, run_trials, trials_of

MODULES = PROJECT / "lab" / "programs" / "stock-modules"
STOCK = """
name = "stock"
title = "stock senders after each other in one lab"
[factors]
flavor = ["bbr", "dctcp", "hybla"]
[base]
topology = { pairs = 1, rate_bit_per_s = 10_000_000, delay_us = 10_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 500 }
tcp = { window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 2 }
[[rule]]
when = { flavor = "bbr" }
set = { tcp.flavor = "bbr" }
[[rule]]
when = { flavor = "dctcp" }
set = { tcp.flavor = "dctcp" }
[[rule]]
when = { flavor = "hybla" }
set = { tcp.flavor = "hybla" }
"""


def test_setup_takes_along_what_flavors_ask_for() -> None:
    listed = {line for line in MODULES.read_text().splitlines() if not line.startswith("#")}
    asked = {flavors.load(path.stem).module for path in (PROJECT / "tcp-configs").glob("*.toml")}
    assert listed == asked - {None, "cellbed_tcp"}


@pytest.mark.lab
def test_they_are_loaded_when_a_trial_wants_them(tmp_path: Path) -> None:
    run_trials(tmp_path / "out", trials_of(tmp_path, STOCK))
    campaign = read_campaign(tmp_path / "out")
    assert [trial.factors["flavor"] for trial in campaign.trials] == ["bbr", "dctcp", "hybla"]
    for trial in campaign.trials:
        seen = json.dumps(trial.document["tcp"])
        assert re.search(rf"\b{trial.factors['flavor']}\b", seen)
        assert (trial.metrics["efficiency"] or 0) > 0.5
