# SPDX-License-Identifier: GPL-2.0-only
"""The web study's table of traces: it is of the traces that the trials carry."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from harness.design import experiment
from harness.design.trials import planned
from harness.judge import studies
from studies.web_2003 import traces

FOLDER = studies.folder("web_2003")
LINES = Kept(FOLDER / "results").table(traces.WHOLE, traces.NAME).rows


@pytest.mark.parametrize("load", traces.SLIDES)
def test_its_traffic_is_that_of_the_long_trials(load: str) -> None:
    path = FOLDER / "web.toml"
    trials = planned(experiment.load(path), path, [f"load={load}"], seeds=1)
    for plan in (trial.plan for trial in trials):
        topology = plan.topology
        carried = plan.workload.traffic(
            topology.rate_bit_per_s, topology.mss_bytes, topology.framing
        )
        assert carried == traces.traffic(load)


@pytest.mark.parametrize(("seed", "direction"), [(3, "down"), (4, "up")])
def test_a_kept_line_is_that_of_a_new_draw(seed: int, direction: str) -> None:
    """The largest response is of either direction."""
    line = next(row for row in LINES if (row["load"], row["seed"]) == ("105", str(seed)))
    found = traces.largest("105", seed)
    assert found == line and found["direction"] == direction
