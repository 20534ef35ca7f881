# SPDX-License-Identifier: GPL-2.0-only
"""The time to the end of a campaign, for the terminal and the page."""

from __future__ import annotations

import pytest

from harness.events import (
    CampaignEnded,
    CampaignStarted,
    TrialEnded,
    TrialFailed,
    TrialProgress,
    TrialStarted,
)
from harness.left import Left

NAMES = ("a", "b", "c", "d")


def begun(jobs: int, *found: str) -> Left:
    left = Left()
    left.take(CampaignStarted(experiment="", lab="", clock="", jobs=jobs, scheduler=None,
                              trials=NAMES, finished=found), 1000)  # fmt: skip
    return left


def start(name: str) -> TrialStarted:
    return TrialStarted(trial=name, duration_s=20)


def end(name: str) -> TrialEnded:
    return TrialEnded(trial=name, virtual_s=20, wall_s=1, cpu_s=1)


def test_trials_under_way_count_in_part() -> None:
    left = begun(1, "a")
    assert left.left_s() is None
    left.take(start("b"), 1001)
    assert left.left_s() is None
    left.take(TrialProgress(trial="b", virtual_s=10), 1010)
    assert left.left_s() == pytest.approx(50)  # half a trial in 10 s, two and a half are left
    left.take(end("b"), 1030)
    assert left.left_s() == pytest.approx(60)
    left.take(CampaignEnded(finished=2, failed=2), 1031)
    assert left.left_s() is None


def test_the_time_for_which_a_viewer_held_a_lab_is_not_counted() -> None:
    left = begun(1)
    left.take(start("a"), 1000)
    left.take(TrialProgress(trial="a", virtual_s=10, held_s=600), 1610)
    assert left.left_s() == pytest.approx(70)
    left.take(end("a"), 1620)
    assert left.left_s() == pytest.approx(60)
    left.take(start("b"), 1620)
    left.take(TrialProgress(trial="b", virtual_s=10, held_s=100), 1730)
    assert left.left_s() == pytest.approx(50)


def test_of_two_labs_one_goes_on_while_the_other_is_held() -> None:
    left = begun(2)
    left.take(start("a"), 1000)
    left.take(start("b"), 1000)
    left.take(TrialProgress(trial="a", virtual_s=10, held_s=20), 1030)
    left.take(end("b"), 1030)
    # Two labs worked for 40 s together, and so for 20 s: one and a half trials of four.
    assert left.left_s() == pytest.approx(2.5 * 20 / 1.5)


def test_what_runs_again_counts_once() -> None:
    left = begun(1)
    left.take(start("a"), 1000)
    left.take(TrialProgress(trial="a", virtual_s=10), 1010)
    left.take(TrialFailed(trial="a", attempt=1, reason="hung", retried=True), 1020)
    assert left.left_s() is None
    left.take(start("a"), 1020)
    left.take(TrialFailed(trial="a", attempt=2, reason="hung", retried=False), 1040)
    assert left.left_s() == pytest.approx(120)
