# SPDX-License-Identifier: GPL-2.0-only
"""The receivers' windows of 96-0518R1, proved by the largest flight that a lab shows.

With a buffer that never overflows every window opens fully, and what the path cannot hold
lies in the queue: its largest length tells the sum of the flights to the cell.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cells import cells_of
from analysis.records import CampaignRecords, read_campaign
from harness.design import experiment
from harness.design.trials import planned
from studies.ubr_1996.path import full_queue_cells, lossless
from tests.small import run_trials

FILE = Path(__file__).parents[2] / "studies" / "ubr_1996" / "ubr-persistent.toml"
WINDOWS = [("LAN", 8192), ("LAN", 32_767), ("LAN", 65_535), ("WAN", 600_000), ("WAN", 1_800_000)]
# More cells than 5 windows of 1.8 MB have; the interval begins when all are open.
CHANGES = """
extends = "ubr-persistent.toml"
name = "ubr-windows"
seeds = 1
[factors]
sources = [5]
buffer = [1_000_000]
policy = ["plain"]
[[only]]
network = ["LAN"]
window = [8192, 32_767, 65_535]
[[only]]
network = ["WAN"]
window = [600_000, 1_800_000]
[base]
queue.buffer_cells = 1_000_000
workload.measure_from_s = 4
workload.duration_s = 5
"""
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignRecords:
    folder = tmp_path_factory.mktemp("windows")
    (folder / FILE.name).write_text(FILE.read_text())
    path = folder / "windows.toml"
    path.write_text(CHANGES)
    run_trials(folder / "out", planned(experiment.load(path), path))
    return read_campaign(folder / "out")


@pytest.mark.parametrize(("network", "window"), WINDOWS)
def test_queue_and_flight_are_the_windows(
    campaign: CampaignRecords, network: str, window: int
) -> None:
    levels = {"network": [network], "window": [window]}
    (cell,) = (cell for cell in cells_of(campaign.trials) if cell.matches(levels))
    (document,) = (
        trial.document
        for trial in campaign.trials
        if trial.factors["network"] == network and trial.factors["window"] == str(window)
    )
    assert cell.values("lost_frames") and lossless(cell)
    assert document["source"]["flight_segments"] == [window // 512] * 5
    assert all(abs(told - window) < 512 for told in document["source"]["peer_window_bytes"])
    assert cell.metrics["peak_cells"] == {1: full_queue_cells(cell)}
    assert cell.metrics["efficiency"][1] == pytest.approx(1.0, abs=0.002)
    assert document["metrics"]["timeouts"] == 0
    # Not one packet came out of its link after the moment at which it was due.
    assert [q["late_max_ns"] for q in document["queue"].values()] == [0, 0]
