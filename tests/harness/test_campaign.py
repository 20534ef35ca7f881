# SPDX-License-Identifier: GPL-2.0-only
"""Campaigns over a lab of paper: what is retried, what is kept, what is run again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small import small_trials

from harness import costs, record
from harness.campaign import Campaign, Options
from harness.errors import LabError, UsageError
from harness.labs import LABS
from harness.labs.base import Event, Lab
from harness.plan import Trial


class PaperLab(Lab):
    """Does its jobs at once. `script` says what becomes of a trial: a word a try."""

    script: dict[str, list[str]] = {}
    tried: list[str] = []
    booted: list[Path] = []
    trials_with_a_next = 0  # so many end only when the next one has been given

    def boot(self) -> None:
        self.booted.append(self.run_directory)

    def poll(self) -> int | None:
        return 0

    def kill(self) -> None:
        pass

    def cpu_s(self) -> float:
        return 1.0

    def events(self) -> Iterator[Event]:
        number = 0
        while True:
            number += 1
            job = json.loads(self.given(number).read_text())
            if job["kind"] == "end":
                return
            if job["kind"] == "trial":
                yield from self.trial(job["trial"], number)

    def given(self, number: int) -> Path:
        """The file of a job, when it is there."""
        path = self.run_directory / "inbox" / f"{number:04d}.json"
        end = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < end, f"job {number} does not come"
            time.sleep(0.001)
        return path

    def trial(self, name: str, number: int) -> Iterator[Event]:
        self.tried.append(name)
        yield {"event": "trial-begin", "trial": name}
        if len(self.tried) <= self.trials_with_a_next:
            self.given(number + 1)
        steps = self.script.get(name, [])
        fate = steps.pop(0) if steps else "end"
        if fate == "die":
            raise LabError("the lab ended with status 1", "Kernel panic")
        if fate == "fail":
            yield {"event": "trial-failed", "trial": name, "error": "RuntimeError: nginx"}
        else:
            (self.run_directory / "results" / name).mkdir()
            yield {"event": "trial-end", "trial": name}


def finish(trial: Trial, raw: Path, trials: Path, costs: dict[str, float]) -> dict[str, Any]:
    document = {"trial": trial.name, "virtual_s": 1.0, "checks": [], **costs}
    (trials / trial.name).mkdir(parents=True)
    (trials / trial.name / "trial.json").write_text(json.dumps(document))
    return document


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[PaperLab]:
    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}
        tried: list[str] = []
        booted: list[Path] = []

    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(costs, "file", lambda: tmp_path / "costs.json")
    monkeypatch.setattr(record, "finish", finish)
    return Fresh


def make(folder: Path, trials: list[Trial], jobs: int = 2) -> Campaign:
    options = Options(lab="paper", jobs=jobs)
    return Campaign(folder, trials, {"name": "small"}, options, lambda *_: None)


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_every_trial_runs_once(tmp_path: Path, paper: type[PaperLab], jobs: int) -> None:
    trials = small_trials(tmp_path, seeds=3)
    done = make(tmp_path / "out", trials, jobs).run()
    assert sorted(done) == sorted(t.name for t in trials) == sorted(paper.tried)


def test_one_lab_runs_all_and_always_has_the_next(tmp_path: Path, paper: type[PaperLab]) -> None:
    trials = small_trials(tmp_path, seeds=3)
    paper.trials_with_a_next = len(trials) - 1
    make(tmp_path / "out", trials, 1).run()
    assert len(paper.booted) == 1 and paper.tried == [trial.name for trial in trials]


def test_running_again_does_what_is_missing(tmp_path: Path, paper: type[PaperLab]) -> None:
    first = small_trials(tmp_path)
    make(tmp_path / "out", first).run()
    paper.tried.clear()
    more = small_trials(tmp_path, seeds=2)
    make(tmp_path / "out", more).run()
    assert sorted(paper.tried) == sorted({t.name for t in more} - {t.name for t in first})


@pytest.mark.parametrize("fate", ["fail", "die"])
def test_a_failure_is_retried_once_with_its_reason(
    tmp_path: Path, paper: type[PaperLab], fate: str
) -> None:
    trials = small_trials(tmp_path)
    paper.script.update({trials[0].name: [fate], trials[1].name: [fate, fate]})
    campaign = make(tmp_path / "out", trials, 1)
    done = campaign.run()
    assert set(done) == {t.name for t in trials} - {trials[1].name}
    assert len(campaign.failures[trials[0].name]) == 1
    reasons = campaign.failures[trials[1].name]
    assert len(reasons) == 2 and all("nginx" in r or "panic" in r for r in reasons)
    assert paper.tried.count(trials[1].name) == 2
    kept = (tmp_path / "out" / "failures.jsonl").read_text().splitlines()
    assert [json.loads(line)["attempt"] for line in kept].count(2) == 1 and len(kept) == 3


def test_half_a_record_is_swept_and_run_again(tmp_path: Path, paper: type[PaperLab]) -> None:
    trials = small_trials(tmp_path)
    half = tmp_path / "out" / "trials" / f".{trials[0].name}.partial"
    half.mkdir(parents=True)
    (half / "trial.json").write_text("{")
    done = make(tmp_path / "out", trials).run()
    assert len(done) == len(trials) and not half.exists()


def test_another_experiments_folder_is_refused(tmp_path: Path, paper: type[PaperLab]) -> None:
    trials = small_trials(tmp_path)
    make(tmp_path / "out", trials).run()
    other = Campaign(
        tmp_path / "out", trials, {"name": "other"}, Options(lab="paper"), lambda *_: None
    )
    with pytest.raises(UsageError, match="holds experiment small"):
        other.run()
