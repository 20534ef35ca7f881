# SPDX-License-Identifier: GPL-2.0-only
"""The sentence about the wait of a full queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.records import read_campaign
from analysis.report import full_queue
from analysis.report.results import results_of
from analysis.study import NONE
from tests.analysis import synthetic

CELLS = [("WAN", "SACK", "EPD", buffer) for buffer in (0.5, 1.0, 2.0)]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_buffer_that_varies_has_its_waits(tmp_path: Path, number: int) -> None:
    cells = dict.fromkeys(CELLS[:number], (0.8, 0.9))
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    campaign = read_campaign(tmp_path)
    [*said] = full_queue.sentences(results_of(campaign, NONE, {}))
    rooms = sorted({trial.plan.queue.down.room_cells or 0 for trial in campaign.trials})
    network = campaign.trials[0].plan.topology
    waits = [f"{room * 53 * 8 / network.rate_bit_per_s * 1000:,.3g}" for room in rooms]
    if number == 1:
        assert said == []
        return
    path = network.rate_bit_per_s * 2 * network.delay_ns / 1e9 / 424
    assert f"carries about {path:,.0f} cells. A full queue of {rooms[0]:,}" in said[0]
    assert said[0].endswith(f"{waits[-2]} and {waits[-1]} ms.")
