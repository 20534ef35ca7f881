# SPDX-License-Identifier: GPL-2.0-only
"""Campaigns over a lab of paper: what is retried, what is kept, what is run again."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from analysis.campaign_file import read_header
from harness import events
from harness.api.progress import ProgressDisplay
from harness.campaign.campaign import CampaignRun
from harness.design.trials import PlannedTrial
from harness.events import Event, Listener, TrialEnded, TrialFailed, TrialStarted
from harness.host import checkout
from harness.machine.clean import remove_campaign
from harness.records import identity, record
from harness.runners.options import Options
from plan.errors import UsageError
from tests.paper import PaperLab, finish
from tests.small import small_trials


def make(
    folder: Path, trials: list[PlannedTrial], jobs: int = 2, listener: Listener = events.ignore
) -> CampaignRun:
    options = Options(lab="paper", jobs=jobs)
    return CampaignRun(folder, trials, {"name": "small"}, options, listener)


def told(folder: Path) -> list[Event]:
    """The events that a campaign's folder keeps."""
    return [event for _, event in events.read(folder / events.NAME)]


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


def test_it_knows_at_which_commits_trials_were_run(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for commit, seeds in (("a", 1), ("b+", 2), ("c", 2), ("", 3)):
        monkeypatch.setattr(checkout, "commit", lambda commit=commit: commit)
        make(tmp_path / "out", small_trials(tmp_path, seeds=seeds)).run()
        found.append(read_header(tmp_path / "out").document["commits"])
    assert found == [["a"], ["a", "b+"], ["a", "b+"], ["a", "b+"]]  # c ran none


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
    failed = [event for event in told(tmp_path / "out") if isinstance(event, TrialFailed)]
    assert sorted(event.attempt for event in failed) == [1, 1, 2]
    assert {e.reason for e in failed} == {r for rs in campaign.failures.values() for r in rs}
    assert [event.trial for event in failed if not event.retried] == [trials[1].name]


def test_half_a_record_is_swept_and_run_again(tmp_path: Path, paper: type[PaperLab]) -> None:
    trials = small_trials(tmp_path)
    make(tmp_path / "out", trials[1:]).run()
    half = tmp_path / "out" / "trials" / f".{trials[0].name}.partial"
    half.mkdir()
    (half / "trial.json").write_text("{")
    done = make(tmp_path / "out", trials).run()
    assert len(done) == len(trials) and not half.exists()


def test_another_experiments_folder_is_refused(tmp_path: Path, paper: type[PaperLab]) -> None:
    trials = small_trials(tmp_path)
    make(tmp_path / "out", trials).run()
    other = CampaignRun(tmp_path / "out", trials, {"name": "other"}, Options(lab="paper"))
    with pytest.raises(UsageError, match="belongs to the experiment small"):
        other.run()


def test_an_invalid_trial_is_done(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Paper trials have nothing that a check could pass on. Run again they would be the same."""
    trials = small_trials(tmp_path)
    campaign = make(tmp_path / "out", trials)
    documents = campaign.run()
    assert not any(document["valid"] for document in documents.values())
    assert sorted(paper.tried) == sorted(trial.name for trial in trials)
    assert not campaign.failures
    before = {t.name: contents(campaign.records / t.name) for t in trials}
    assert make(tmp_path / "out", trials).run() == documents
    assert len(paper.tried) == len(trials)
    assert before == {t.name: contents(campaign.records / t.name) for t in trials}


def test_a_trial_ends_once(tmp_path: Path, paper: type[PaperLab]) -> None:
    """Whatever becomes of its attempts; so the number of those left never passes zero."""
    trials = small_trials(tmp_path)
    paper.script.update({trials[0].name: ["fail"], trials[1].name: ["fail", "fail"]})
    heard: list[Event] = []
    make(tmp_path / "out", trials, 1, heard.append).run()

    def ends(name: str) -> list[str]:
        return [("again" if event.retried else "failed") if isinstance(event, TrialFailed)
                else "end" for event in heard
                if isinstance(event, TrialEnded | TrialFailed) and event.trial == name]  # fmt: skip

    expected = [["again", "end"], ["again", "failed"], ["end"], ["end"]]
    assert [ends(trial.name) for trial in trials] == expected


def test_the_display_counts_each_trial_once(
    tmp_path: Path, paper: type[PaperLab], capsys: pytest.CaptureFixture[str]
) -> None:
    trials = small_trials(tmp_path)
    paper.script.update({trials[0].name: ["fail"], trials[1].name: ["fail", "fail"]})
    with ProgressDisplay(trials) as display:
        make(tmp_path / "out", trials, 1, display).run()
    said = capsys.readouterr().err
    assert display.finished == len(trials) and "about -" not in said
    assert said.splitlines()[-1].startswith(f"{len(trials)}/{len(trials)} ")


def test_what_cannot_be_made_a_record_is_that_trials_failure(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = small_trials(tmp_path)

    def damaged(trial: PlannedTrial, software: Any, raw: Path, *rest: Any) -> None:
        if trial.name == trials[2].name:
            raise ValueError("down.cellq: damaged at byte 77")
        finish(trial, software, raw, *rest)

    monkeypatch.setattr(record, "finish", damaged)
    campaign = make(tmp_path / "out", trials, 1)  # so the same lab tries it again
    assert set(campaign.run()) == {t.name for t in trials} - {trials[2].name}
    [name] = campaign.failures
    assert name == trials[2].name and len(campaign.failures[name]) == 2
    assert "ValueError: down.cellq: damaged at byte 77" in campaign.failures[name][0]


def test_files_that_change_while_it_runs_are_that_trials_failure(
    tmp_path: Path, paper: type[PaperLab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name says what ran it, and that may be true no more."""
    trials, before = small_trials(tmp_path), identity.software("paper", None)
    monkeypatch.setattr(identity, "found", lambda *_: {**before, "code": "another"})
    campaign = make(tmp_path / "out", trials, 1)
    assert not campaign.run()
    reasons = [reason for several in campaign.failures.values() for reason in several]
    assert len(reasons) == 2 * len(trials)
    assert all("changed while the trial ran" in reason for reason in reasons)


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
    with pytest.raises(
        UsageError, match="lab.json is not JSON.*remove the folder .* to run the trial again"
    ):
        make(tmp_path / "out", trials).run()
    assert path.read_text() == "{" and len(paper.tried) == len(trials)
    shutil.rmtree(path.parent)
    make(tmp_path / "out", trials).run()
    assert paper.tried[len(trials) :] == [trials[0].name]


def test_a_folder_of_other_things_is_refused_untouched(
    tmp_path: Path, paper: type[PaperLab]
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="out has files but no campaign.json"):
        make(tmp_path / "out", small_trials(tmp_path)).run()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_campaign_that_was_killed_at_its_begin_goes_on(
    tmp_path: Path, paper: type[PaperLab]
) -> None:
    (tmp_path / "out").mkdir()
    for name in ("campaign.lock", ".campaign.json.77"):
        (tmp_path / "out" / name).touch()
    trials = small_trials(tmp_path)
    assert len(make(tmp_path / "out", trials).run()) == len(trials)


def test_a_second_campaign_in_a_folder_is_refused_and_disturbs_nothing(
    tmp_path: Path, paper: type[PaperLab]
) -> None:
    """Asked for in the middle of the first one's only writing, when half a record is there."""
    trials = small_trials(tmp_path)
    refusals = []

    def second(event: Event) -> None:
        if not isinstance(event, TrialStarted):
            return
        half = tmp_path / "out" / "trials" / ".of the first.partial"
        half.mkdir(exist_ok=True)
        with pytest.raises(UsageError) as refused:
            make(tmp_path / "out", trials).run()
        refusals.append(str(refused.value))
        with pytest.raises(UsageError, match="uses this folder; wait"):
            remove_campaign(tmp_path / "out")
        assert half.exists()

    first = make(tmp_path / "out", trials)
    first.listener = second
    assert len(first.run()) == len(trials) == len(refusals) == len(paper.tried)
    holder = f"{tmp_path / 'out'}: process {os.getpid()} on {socket.gethostname()} uses"
    assert all(refusal.startswith(holder) for refusal in refusals)
    assert (tmp_path / "out" / "campaign.lock").read_text() == ""
    assert len(make(tmp_path / "out", trials).run()) == len(trials)
