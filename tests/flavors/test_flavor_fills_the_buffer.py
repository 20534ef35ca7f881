# SPDX-License-Identifier: GPL-2.0-only
"""One flow alone fills the whole buffer of the queue under test.

A queue on the sender's own machine can push back on the sender (TCP small queues, a
device that is held up), and then it never overflows and all flavors look the same. Here
the flow's window is far above the path's product and the buffer, and slow start carries
it there: the queue must reach its last frame, lose from there, and the sender never wait
for its own machine.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.small import run_trials, trials_of

pytestmark = pytest.mark.lab

EXPERIMENT = """
name = "one-flow"
title = "one flow fills the buffer"
[factors]
network = ["WAN", "GEO"]
[base]
topology = { pairs = 1, rate_bit_per_s = 45_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 2300 }
tcp = { flavor = "sack", window_bytes = 1_048_560, ssthresh_bytes = 1_000_000 }
workload = { kind = "iperf", duration_s = 10 }
[[rule]]
when = { network = "GEO" }
set = { topology.delay_us = 275_000, topology.mss_bytes = 9180, queue.buffer_cells = 29_190, \
tcp.window_bytes = 8_388_480, tcp.ssthresh_bytes = 8_000_000, workload.duration_s = 20 }
"""
FRAME_CELLS = {"WAN": 23, "GEO": 193}  # 98-0876R1, 7: a full segment
BUFFER_CELLS = {"WAN": 2300, "GEO": 29_190}


def test_the_queue_is_filled_to_its_last_frame(tmp_path: Path):
    documents = run_trials(tmp_path / "out", trials_of(tmp_path, EXPERIMENT))
    for document in documents.values():
        network = document["factors"]["network"]
        down, buffer_cells = document["queue"]["down"], BUFFER_CELLS[network]
        assert buffer_cells - FRAME_CELLS[network] < down["peak_cells"] <= buffer_cells, network
        assert document["metrics"]["retransmits"] > 0, json.dumps(document["metrics"])
