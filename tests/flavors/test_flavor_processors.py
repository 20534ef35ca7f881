# SPDX-License-Identifier: GPL-2.0-only
"""The module on four processors, on a kernel that checks itself (lab/debug-kernel)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.flavors import files as flavors
from harness.labs.base import LabSpec
from harness.labs.supervised import wait_for_exit
from tests.flavors import debug_lab

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]

CLASSIC = ("vanilla", "reno", "newreno", "sack")
EACH = 13  # connections of each flavor at once: 52 pairs of ends
ROUNDS = 2
BYTES = 150_000
LIMIT_S = 3600.0
MAIN = (
    "exec python3 -B /cellbed/tests/flavors/in_lab.py"
    " /run/cellbed/job.json /run/cellbed/result.json"
)


# As 98-0876R1 has its senders: packets cut anew, and all else that is off by default.
TEXT = {
    "byte_window": True,
    "resend_boundaries": "anew",
    "multiple_fast_retransmits": True,
    "newreno_partial": "reset",
    "newreno_flywheel": True,
    "sack_pipe": "segments",
    "ssthresh_rule": "window",
}
SENDERS = {"segments": {}, "bytes": {"byte_window": True}, "text": TEXT}


@pytest.mark.parametrize("senders", SENDERS)
def test_the_kernel_finds_nothing_wrong(tmp_path: Path, senders: str):
    """52 connections with losses and timeouts, again and again, while processes own their
    sockets: all data arrives, nothing stays, and KASAN, lockdep and RCU have nothing to say."""
    changed = {
        **SENDERS[senders],
        "rto_tick_ms": 20,
        "rto_min_ticks": 1,
        "rto_first_ms": 200,
    }
    job = {
        "flavors": [flavors.load(f).with_parameters(changed).as_dict() for f in CLASSIC],
        "connections": EACH * ROUNDS,
        "at_once": EACH,
        "bytes": BYTES,
        "mtu_bytes": 1064,
        "rate_bit_per_s": 20_000_000,
        "delay_ns": 5_000_000,
        "limit_ns": 600_000_000_000,
        "hammers": debug_lab.PROCESSORS,
    }
    kernel = debug_lab.kernel()
    module = debug_lab.module(kernel, tmp_path / "module")
    spec = LabSpec(pairs=0, clock="real", memory_mib=3072, main=MAIN)
    run = tmp_path / "run"
    run.mkdir()
    (run / "job.json").write_text(json.dumps(job))
    with debug_lab.DebugLab(spec, run, kernel=kernel, module=module) as lab:
        wait_for_exit(lab, LIMIT_S)
    assert debug_lab.complaints((run / "console.log").read_text(errors="replace")) == []
    result = json.loads((run / "result.json").read_text())
    assert "error" not in result, result
    assert result["warnings"] == []
    assert result["received"] == [EACH * ROUNDS * BYTES] * len(CLASSIC)
    assert all(counted["TCPTimeouts"] > 0 for counted in result["counters"])
    assert result["left_references"] == 0
    assert result["sockets"]["after"][0] == result["sockets"]["idle"][0]
    assert result["removed"] == ""
