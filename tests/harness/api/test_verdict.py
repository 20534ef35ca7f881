# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign with trials that failed says on the terminal, and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellbed
from harness.api.verdict import MOST_NAMED, raise_failures
from harness.campaign.campaign import CampaignRun
from harness.runners.options import Options
from plan.errors import LabError, UsageError
from tests.analysis import synthetic
from tests.small import small_trials


def campaign(folder: Path, failed: int, seeds: int = 3) -> CampaignRun:
    """One whose first trials failed; the reason is the kernel's, with a stack."""
    trials = small_trials(folder, seeds=seeds)
    run = CampaignRun(folder / "out", trials, {"name": "small"}, Options(lab="uml", jobs=1))
    for place, trial in enumerate(trials[:failed]):
        run.failures[trial.name] = ["once", f"the kernel complained {place}\nStack:\n 604b5c03"]
    return run


def error(run: CampaignRun, failed: int) -> LabError:
    documents = {trial.name: {"valid": True} for trial in run.trials[failed:]}
    with pytest.raises(LabError) as caught:
        raise_failures(run, documents)
    return caught.value


def test_it_names_each_failed_trial_and_the_next_step(tmp_path: Path) -> None:
    run = campaign(tmp_path, failed=2)
    found = error(run, failed=2)
    first, second = (trial.name for trial in run.trials[:2])
    assert str(found) == (f"2 of {len(run.trials)} trials failed; {first}: the kernel complained 0")
    assert found.console == ""  # the stack is in the events
    assert found.__notes__ == [
        f"    {second}: the kernel complained 1",
        "    Give the same command again to run the failed trials. It keeps the finished trials. If"
        " the reason lies in the experiment, change the file first: else the trials fail again."
        f" The whole messages are in {run.folder / 'events.jsonl'}.",
    ]


def test_many_are_counted(tmp_path: Path) -> None:
    run = campaign(tmp_path, failed=12)
    notes = error(run, failed=12).__notes__
    assert len(run.trials) >= 12 and len(notes) == MOST_NAMED + 1
    assert notes[-2] == "    and 2 more"


def test_a_folder_without_any_record_says_what_became_of_its_trials(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(tmp_path / "out", cells={("WAN", "SACK", "SD", 1): (1, 1)})
    for record in (folder / "trials").iterdir():
        for file in record.iterdir():
            file.unlink()
        record.rmdir()
    with pytest.raises(UsageError, match="^no trial in .*out can be read$"):
        cellbed.Campaign(folder)
    path = folder / "campaign.json"
    listed = [{"trial": f"a-s{seed}-0", "factors": {"a": 1}, "seed": seed} for seed in (1, 2)]
    header = json.loads(path.read_text()) | {"format": "cellbed-campaign/2", "trials": listed}
    path.write_text(json.dumps(header))
    failed = {"event": "trial-failed", "trial": "a-s1-0", "reason": "it hung", "retried": False}
    (folder / "events.jsonl").write_text(json.dumps(failed) + "\n")
    with pytest.raises(UsageError) as caught:
        cellbed.Campaign(folder)
    assert str(caught.value) == (
        f"{folder} has no record: 2 trials planned: 0 have a record, 1 failed, 1 is missing;"
        " a 1, seed 1: it hung; run it again"
    )
