# SPDX-License-Identifier: GPL-2.0-only
"""Two campaigns of one process, over a lab of paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import events
from harness.labs import LABS
from harness.records import record
from harness.runners.lab_pool import LabPool, Outcome, PoolJob
from tests.paper import PaperLab, finish
from tests.small import tiny_trials


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> type[PaperLab]:
    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}
        tried: list[str] = []

    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(record, "finish", finish)
    return Fresh


def jobs(folder: Path, *campaigns: str, sent: bool = False) -> list[PoolJob]:
    """One trial, wanted by each of some campaigns, in a folder of its own or sent to it."""
    [trial] = tiny_trials(folder)
    return [PoolJob(trial=trial, lab="paper", clock="virtual", campaign=name,
                records=None if sent else folder / name) for name in campaigns]  # fmt: skip


@pytest.mark.parametrize("slots", [1, 2])
def test_each_campaign_gets_its_record(tmp_path: Path, paper: type[PaperLab], slots: int) -> None:
    """Also from one lab, which has the results of one name once."""
    pool, wanted = LabPool(), jobs(tmp_path, "one", "two", "three")
    with pool.lock:  # so that all are there before the first can end
        tasks = [pool.submit(job, slots, events.ignore) for job in wanted]
    assert [task.outcome.result(60) for task in tasks] == [Outcome()] * 3
    pool.wait()
    for job in wanted:
        assert job.records is not None
        assert (job.records / job.trial.name / "flows.csv").exists()


def test_a_record_that_is_sent_is_made_once_for_all(tmp_path: Path, paper: type[PaperLab]) -> None:
    """A campaign that was killed and begins anew takes up what its workers still do."""
    pool = LabPool()
    with pool.lock:
        first, second = (pool.submit(job, 1, events.ignore)
                         for job in jobs(tmp_path, "one", "two", sent=True))  # fmt: skip
        pool.abandon("one")
    assert first is second and second.outcome.result(60).record
    assert len(paper.tried) == 1


def test_what_nobody_wants_any_more_is_not_run(tmp_path: Path, paper: type[PaperLab]) -> None:
    pool = LabPool()
    with pool.lock:
        tasks = [pool.submit(job, 1, events.ignore) for job in jobs(tmp_path, "one", "two")]
        pool.abandon("two")
    reasons = [task.outcome.result(60).reason for task in tasks]
    assert reasons == [None, "abandoned"] and len(paper.tried) == 1
