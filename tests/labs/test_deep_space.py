# SPDX-License-Identifier: GPL-2.0-only
"""Four light-minutes: the kernel's defaults give a connection up, and an experiment changes them.

The trials share a lab, in this order: what one has set, the next has not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.campaign.campaign import CampaignRun
from harness.runners.options import Options
from tests.small import trials_of

pytestmark = pytest.mark.lab

TEXT = """
name = "far"
title = "four light-minutes"
[factors]
patience = ["both ends", "neither end", "client"]
[base]
topology = { pairs = 1, rate_bit_per_s = 2_000_000, delay_us = 240_000_000, mss_bytes = 1460 }
queue = { kind = "drop-tail", limit_packets = 1000 }
tcp = { flavor = "cubic-rack", window_bytes = 1_000_000, ssthresh_bytes = 1_000_000_000 }
workload = { kind = "www", duration_s = 600.0, period_s = 600.0 }
[[rule]]
when = { patience = "client" }
set.tcp.sysctl = { tcp_syn_retries = 20 }
[[rule]]
when = { patience = "both ends" }
set.tcp.sysctl = { tcp_syn_retries = 20, tcp_synack_retries = 20 }
"""


def test_a_connection_over_four_light_minutes(tmp_path: Path) -> None:
    trials = {str(one.factors["patience"]): one for one in trials_of(tmp_path, TEXT)}
    chosen = [trials[name] for name in ("both ends", "neither end", "client")]
    campaign = CampaignRun(tmp_path / "far", chosen, {"name": "far"}, Options(jobs=1))
    documents = campaign.run()
    assert not failed(documents[trials["both ends"].name])
    [(name, why)] = campaign.failures.items()
    assert name == trials["neither end"].name
    assert "pair 1: cannot connect: Connection timed out" in str(why)
    assert "set tcp.sysctl.tcp_syn_retries = 20" in str(why)
    forgotten = trials["client"].name
    assert failed(documents[forgotten]) == {"requests", "receiver window"}
    lab = json.loads((tmp_path / "far" / "trials" / forgotten / "lab.json").read_text())
    assert lab["source"]["broken"] == ["pair 1: connection lost: Connection reset by peer"]


def failed(document: dict) -> set[str]:
    return {check["name"] for check in document["checks"] if not check["ok"]}
