# SPDX-License-Identifier: GPL-2.0-only
"""A source that gets nothing through counts as such, whatever its control connection carried."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.campaign.campaign import CampaignRun
from harness.runners.options import Options
from tests.small import TINY, trials_of

COOKIE_BYTES = 37
"""What iperf3 sends first on each data connection, so that the other end knows it."""


@pytest.mark.lab
def test_a_source_without_a_whole_segment_through(tmp_path: Path) -> None:
    """The queue has room for iperf3's words of 5 cells, and none for a segment of 23."""
    trials = trials_of(tmp_path, TINY.replace("buffer_cells = 300", "buffer_cells = 8"))
    campaign = CampaignRun(tmp_path / "out", trials, {"name": "tiny"}, Options())
    [document] = campaign.run().values()
    # One may not even have come to have a connection for its data: that one is idle.
    assert {c["name"] for c in document["checks"] if not c["ok"]} <= {"idle sources"}
    received = document["source"]["received_whole_bytes"]
    assert len(received) == 2
    assert max(received) <= COOKIE_BYTES
