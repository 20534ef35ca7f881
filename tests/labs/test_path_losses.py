# SPDX-License-Identifier: GPL-2.0-only
"""What the path loses by itself, in the uml lab: counted, by the seed, and over with the trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

LOSSY = """
name = "lossy"
title = "losses of each kind, then none, and the first again"
[factors]
loss = ["random", "bursts", "none", "again"]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 10_000 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 4 }
[[rule]]
when = { loss = ["random", "again"] }
set = { topology.loss = { share = 0.02 } }
[[rule]]
when = { loss = "again" }
set = { queue.return_buffer_cells = 9_999 }
[[rule]]
when = { loss = "bursts" }
set.topology.loss = { share = 0.1, burst_packets = 2, burst_share = 0.8, direction = "both" }
[[rule]]
when = { loss = "none" }
set = { topology.loss = "none" }
"""


def test_it_is_counted_and_the_same_when_it_is_run_again(tmp_path: Path) -> None:
    trials = trials_of(tmp_path, LOSSY)
    random, bursts, none, again = run_trials(tmp_path / "out", trials).values()
    assert set(random["losses"]["on_path"]) == {"down"}
    assert set(bursts["losses"]["on_path"]) == {"down", "up"}
    for document in (random, bursts):
        assert verdict(document)["ok"] and all(document["losses"]["on_path"].values())
        assert document["metrics"]["retransmits"] > 0
    assert "on_path" not in none["losses"] and none["metrics"]["retransmits"] == 0
    assert again["losses"] == random["losses"]
    assert again["links"] == random["links"] and again["metrics"] == random["metrics"]


def verdict(document: dict[str, Any]) -> dict[str, Any]:
    [found] = (check for check in document["checks"] if check["name"] == "path losses")
    return dict(found)
