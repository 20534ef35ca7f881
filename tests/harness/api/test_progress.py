# SPDX-License-Identifier: GPL-2.0-only
"""The time to the end, as a campaign is followed on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.api.progress import ProgressDisplay
from harness.events import CampaignStarted, TrialEnded, TrialProgress, TrialStarted
from tests.small import small_trials


def test_the_time_left_is_by_what_this_command_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of four were there before; in 50 s one more has ended and the last is half done."""
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    trials = small_trials(tmp_path)
    names = tuple(trial.name for trial in trials)
    duration_s = float(trials[3].plan.workload.duration_s)
    display = ProgressDisplay(trials)
    now = 1300.0  # a lab was built
    display(CampaignStarted(experiment="", lab="", clock="", jobs=2, scheduler=None,
                            trials=names, finished=names[:2]))  # fmt: skip
    display(TrialStarted(trial=names[2], duration_s=duration_s))
    display(TrialStarted(trial=names[3], duration_s=duration_s))
    now = 1350.0
    display(TrialProgress(trial=names[3], virtual_s=duration_s / 2))
    display(TrialEnded(trial=names[2], virtual_s=1, wall_s=50, cpu_s=50))
    now = 1360.0
    display(TrialEnded(trial=names[3], virtual_s=1, wall_s=60, cpu_s=60))
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(";")[2] for line in said] == [" about 17 s left", " about 0 s left"]
