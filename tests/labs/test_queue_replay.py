# SPDX-License-Identifier: GPL-2.0-only
"""Real TCP in real trials: kernel and independent reference agree on every frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bpf import replay
from tests.small import SMALL, run_trials, trials_of

pytestmark = pytest.mark.lab

POLICIES = {
    "epd": 'policy = "epd", buffer_cells = 120, threshold = 0.8',
    "sd": 'policy = "sd", buffer_cells = 120, threshold = 0.8, z = 0.8',
    "plain": 'policy = "plain", buffer_cells = 120',
}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_verdict_is_the_references(tmp_path: Path, policy: str) -> None:
    text = SMALL.replace('policy = "epd", buffer_cells = 300, threshold = 0.8', POLICIES[policy])
    text = text.replace("record.drops = true", "record.drops = true\nrecord.frames = true")
    trial = trials_of(tmp_path, text, "network=WAN", "flavor=SACK")[0]
    document = run_trials(tmp_path / "out", [trial])[trial.name]
    assert document["valid"]
    frames = document["queue"]["down"]["frames"]
    assert frames["in"] > frames["delivered"] > 0
    for port in ("down", "up"):
        log = tmp_path / "out" / "trials" / trial.name / f"{port}.cellq"
        recording = replay.read(log)
        found = list(replay.differences(recording, replay.simulate(recording)))
        assert not found, found[:5]
