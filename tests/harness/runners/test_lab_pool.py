# SPDX-License-Identifier: GPL-2.0-only
"""Two campaigns of one process, over a lab of paper."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import events
from harness.labs import LABS, shared
from harness.labs.base import Event
from harness.records import record
from harness.runners.lab_pool import LabPool, Outcome, PoolJob, no_record
from plan.errors import LabError
from plan.plan import Plan
from tests.paper import PaperLab, finish
from tests.small import tiny_trials

PAPER_TRIAL = PaperLab.trial


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


def test_a_record_is_made_where_no_lab_can_write(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lab that goes on could lead this process elsewhere, and put what it likes into a record."""
    [job] = jobs(tmp_path, "one", sent=True)
    (tmp_path / "home" / job.trial.name).mkdir(parents=True)
    mine = tmp_path / "home" / job.trial.name / "mine"
    mine.write_text("mine")

    def trial(lab: PaperLab, name: str, number: int) -> Iterator[Event]:
        (lab.run_directory / "records").symlink_to(tmp_path / "home")
        return PAPER_TRIAL(lab, name, number)

    monkeypatch.setattr(paper, "trial", trial)
    outcome = LabPool().submit(job, 1, events.ignore).outcome.result(60)
    assert outcome.record is not None and mine.read_text() == "mine"
    assert os.listdir(tmp_path / "home") == [job.trial.name]
    with zipfile.ZipFile(io.BytesIO(outcome.record)) as stream:
        assert "flows.csv" in stream.namelist() and "mine" not in stream.namelist()


def test_a_trial_that_cannot_be_made_ready_fails_alone(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the lab that was to have it next, nor the one that just ended a trial."""

    def prepare(plan: Plan, folder: Path) -> None:
        if plan.seed == 2:
            raise LabError("the load cannot be had")

    monkeypatch.setattr(shared, "prepare", prepare)
    pool, trials = LabPool(), tiny_trials(tmp_path, seeds=3)
    with pool.lock:
        tasks = [pool.submit(PoolJob(trial=one, lab="paper", clock="virtual", campaign="one",
                                     records=tmp_path / "one"), 1, events.ignore)
                 for one in trials]  # fmt: skip
    reasons = [task.outcome.result(60).reason for task in tasks]
    assert reasons == [None, "the load cannot be had", None]
    pool.wait()


def test_what_nobody_wants_any_more_is_not_run(tmp_path: Path, paper: type[PaperLab]) -> None:
    pool = LabPool()
    with pool.lock:
        tasks = [pool.submit(job, 1, events.ignore) for job in jobs(tmp_path, "one", "two")]
        pool.abandon("two")
    reasons = [task.outcome.result(60).reason for task in tasks]
    assert reasons == [None, "abandoned"] and len(paper.tried) == 1


def test_a_sealed_lab_is_booted_for_one_trial(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Of one network there are as many labs as trials, and each knows its trial when it boots."""
    booted_for: list[tuple[str, Plan] | None] = []

    class Sealed(paper):  # type: ignore[misc, valid-type]
        sealed = True

        def boot(self) -> None:
            booted_for.append(self.spec.only)
            self.submit_trial(*self.spec.only)
            self.submit({"kind": "end"})

    LABS["paper"] = Sealed
    pool, trials = LabPool(), tiny_trials(tmp_path, seeds=3)
    with pool.lock:
        tasks = [pool.submit(PoolJob(trial=one, lab="paper", clock="virtual", campaign="one",
                                     records=tmp_path / "one"), 1, events.ignore)
                 for one in trials]  # fmt: skip
    assert [task.outcome.result(60).reason for task in tasks] == [None] * 3
    pool.wait()
    assert booted_for == [(one.name, one.plan) for one in trials]


def test_a_workload_without_a_fact_is_told_where_facts_come_from() -> None:
    said = no_record(KeyError("t0_ns"))
    assert "its lab gave no fact 't0_ns'" in said and "summary()" in said
    assert no_record(LabError("gone")) == "its record could not be made: gone"
    assert no_record(ValueError("no")) == "its record could not be made: ValueError: no"
