# SPDX-License-Identifier: GPL-2.0-only
"""Campaigns over a lab of paper: what is retried, what is kept, what is run again."""

from __future__ import annotations

import errno
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small import small_trials

from harness import costs, record
from harness.campaign import Campaign, Listener, Options
from harness.errors import LabError, UsageError
from harness.labs import LABS
from harness.labs.base import Event, Lab
from harness.plan import Trial
from harness.show import Watcher


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


def finish(
    trial: Trial, software: dict[str, str], raw: Path, trials: Path, costs: dict[str, float]
) -> None:
    """A record of what paper labs leave."""
    lab = {"virtual_s": 1.0, "source": {}}
    (raw / "lab.json").write_text(json.dumps(lab))
    (raw / "flows.csv").write_text("pair,received_bytes\n")
    FINISH(trial, software, raw, trials, costs)


FINISH = record.finish


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


def make(
    folder: Path, trials: list[Trial], jobs: int = 2, listener: Listener = lambda *_: None
) -> Campaign:
    options = Options(lab="paper", jobs=jobs)
    return Campaign(folder, trials, {"name": "small"}, options, listener)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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


def test_an_invalid_trial_is_done(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Paper trials have nothing that a check could pass on. Run again they would be the same."""
    trials = small_trials(tmp_path)
    campaign = make(tmp_path / "out", trials)
    documents = campaign.run()
    assert not any(document["valid"] for document in documents.values())
    assert sorted(paper.tried) == sorted(trial.name for trial in trials)
    assert not campaign.failures and not (tmp_path / "out" / "failures.jsonl").exists()
    before = {t.name: contents(campaign.records / t.name) for t in trials}
    assert make(tmp_path / "out", trials).run() == documents
    assert len(paper.tried) == len(trials)
    assert before == {t.name: contents(campaign.records / t.name) for t in trials}


def test_a_trial_ends_once(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Whatever becomes of its attempts; so the number of those left never passes zero."""
    trials = small_trials(tmp_path)
    paper.script.update({trials[0].name: ["fail"], trials[1].name: ["fail", "fail"]})
    heard: dict[str, list[str]] = {}

    def listener(what: str, trial: Trial, _: float) -> None:
        heard.setdefault(trial.name, []).append(what)

    make(tmp_path / "out", trials, 1, listener).run()
    ends = [[w for w in heard[t.name] if w not in ("begin", "progress")] for t in trials]
    assert ends == [["again", "end"], ["again", "failed"], ["end"], ["end"]]
    assert all(what[-1] in ("end", "failed") for what in heard.values())


def test_a_watcher_counts_each_trial_once(
    tmp_path: Path, paper: type[PaperLab], capsys: pytest.CaptureFixture[str]
) -> None:
    trials = small_trials(tmp_path)
    paper.script.update({trials[0].name: ["fail"], trials[1].name: ["fail", "fail"]})
    with Watcher(trials, 0) as watcher:
        make(tmp_path / "out", trials, 1, watcher).run()
    said = capsys.readouterr().err
    assert watcher.finished == len(trials) and "about -" not in said
    assert said.splitlines()[-1].startswith(f"{len(trials)}/{len(trials)} ")


def test_what_cannot_be_made_a_record_is_that_trials_failure(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = small_trials(tmp_path)

    def damaged(trial: Trial, software: Any, raw: Path, *rest: Any) -> None:
        if trial.name == trials[2].name:
            raise ValueError("down.cellq: damaged at byte 77")
        finish(trial, software, raw, *rest)

    monkeypatch.setattr(record, "finish", damaged)
    campaign = make(tmp_path / "out", trials)
    assert set(campaign.run()) == {t.name for t in trials} - {trials[2].name}
    [name] = campaign.failures
    assert name == trials[2].name and len(campaign.failures[name]) == 2
    assert "ValueError: down.cellq: damaged at byte 77" in campaign.failures[name][0]


def test_a_full_disk_ends_the_campaign(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "flows.csv")

    monkeypatch.setattr(record, "finish", full)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "out", small_trials(tmp_path), 1).run()


def test_a_record_that_cannot_be_read_is_not_run_over(
    tmp_path: Path, paper: type[PaperLab]
) -> None:
    trials = small_trials(tmp_path)
    make(tmp_path / "out", trials).run()
    path = tmp_path / "out" / "trials" / trials[0].name / "lab.json"
    path.write_text("{")
    with pytest.raises(UsageError, match="lab.json: not JSON.*remove it to run the trial again"):
        make(tmp_path / "out", trials).run()
    assert path.read_text() == "{" and len(paper.tried) == len(trials)
    shutil.rmtree(path.parent)
    make(tmp_path / "out", trials).run()
    assert paper.tried[len(trials):] == [trials[0].name]
