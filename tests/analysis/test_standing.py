# SPDX-License-Identifier: GPL-2.0-only
"""The report says first which trials of its campaign have a record, failed, or are missing."""

import fcntl
import json
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analysis.records import read_campaign
from analysis.report import write_report
from analysis.report.standing import standing
from harness.api import Campaign
from harness.campaign.lock import locked
from harness.cli.commands.report import command
from harness.judge import judgement
from harness.judge.judgement import Judged
from plan.errors import UsageError
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic

LEVELS = {"network": "WAN", "flavor": "SACK", "buffer": 1}
POLICIES = ("EPD", "SD", "FBA", "PLAIN")


def entry(policy: str, trial: str) -> dict[str, Any]:
    return {"trial": trial, "factors": LEVELS | {"policy": policy}, "seed": 1, "cell": policy}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of four trials EPD has a record, SD failed, FBA is missing, and none asked for PLAIN."""
    found = synthetic.write_campaign(
        tmp_path / "my results", cells={("WAN", "SACK", "EPD", 1.0): (0.8, 0.9)}, seeds=[1]
    )
    [record] = (found / "trials").iterdir()
    names = dict(zip(POLICIES, [record.name, "sd-s1-0", "fba-s1-0", "plain-s1-0"], strict=True))
    path = found / "campaign.json"
    header = json.loads(path.read_text()) | {
        "format": "cellbed-campaign/2",
        "trials": [entry(policy, name) for policy, name in names.items()],
    }
    path.write_text(json.dumps(header))
    asked = [name for policy, name in names.items() if policy != "PLAIN"]
    failed = {"event": "trial-failed", "trial": "sd-s1-0", "reason": "the lab hung\nmore\nlines"}
    events = [
        {"event": "campaign-started", "trials": asked},
        {"event": "trial-failed", "trial": record.name, "reason": "once", "retried": True},
        {"event": "trial-ended", "trial": record.name},
        failed | {"retried": True},
        failed | {"retried": False},
    ]
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    (found / "events.jsonl").write_text(lines + '{"event": "trial-fai')
    return found


def test_each_trial_is_counted_once(folder: Path) -> None:
    found = standing(read_campaign(folder))
    assert (found.there, len(found.failed), len(found.missing), found.others) == (1, 1, 1, 1)
    assert found.sentence() == (
        "3 trials planned: 1 has a record, 1 failed, 1 is missing"
        " (with these seeds, the experiment has 1 more trial)"
    )


def test_the_report_begins_with_them(folder: Path) -> None:
    text = write_report(read_campaign(folder), STUDY).markdown.read_text()
    begin = text[: text.index("## Summary")]
    assert "3 trials planned: 1 has a record, 1 failed, 1 is missing" in begin
    assert "policy SD, seed 1 | failed | the lab hung |" in begin
    assert "policy FBA, seed 1 | missing | no run of it has ended |" in begin
    assert f"the same options, also --out '{folder}'. It keeps the finished trials" in begin


def test_a_whole_campaign_has_no_such_list(folder: Path) -> None:
    path = folder / "campaign.json"
    header = json.loads(path.read_text())
    path.write_text(json.dumps(header | {"trials": header["trials"][:1]}))
    text = write_report(read_campaign(folder), STUDY).markdown.read_text()
    assert "1 trial planned: it has a record." in text
    assert "without a record" not in text


def test_a_trial_that_ran_again_did_not_fail(folder: Path) -> None:
    """Its record has the name of another version of the software."""
    [record] = (folder / "trials").iterdir()
    again = shutil.copytree(record, record.with_name("sd-s1-1"))
    document = json.loads((again / "trial.json").read_text())
    levels = {"factors": document["factors"] | {"policy": "SD"}, "trial": again.name}
    (again / "trial.json").write_text(json.dumps(document | levels))
    path = folder / "campaign.json"
    header = json.loads(path.read_text())
    header["trials"].append(entry("SD", again.name))
    path.write_text(json.dumps(header))
    found = standing(read_campaign(folder))
    assert (found.there, dict(found.failed), len(found.missing)) == (2, {}, 1)


def test_a_record_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "trials" / "fba-s1-0").mkdir()
    found = standing(read_campaign(folder))
    [why] = [why for name, why in found.failed.items() if "FBA" in name]
    assert "trial.json" in why


def test_a_part_of_a_study_tells_its_own_figures_first(folder: Path) -> None:
    text = write_report(read_campaign(folder), STUDY).markdown.read_text()
    summary = text[text.index("## Summary") : text.index("## Results")]
    assert "We tested" not in summary
    assert summary.split("\n\n")[1].startswith("Efficiency is 0.")
    assert not any(line.endswith("| 0 |") or "| 0 | 0 |" in line for line in summary.splitlines())
    assert (
        "This campaign has 1 of the 72 combinations of 98-0876R1, with 1 seed. The claims of this"
        " source need more combinations or more seeds."
    ) in text
    assert text.index("## Claims") > text.index("## Trials\n")
    assert "**undecided**" not in text


def test_a_run_that_is_under_way_is_told(folder: Path) -> None:
    with locked(folder):
        [holder] = (folder / "campaign.lock").read_text().splitlines()
        found = standing(read_campaign(folder))
        page = write_report(read_campaign(folder), STUDY).markdown.read_text()
    assert found.under_way == holder
    said = f"A run is under way ({holder})"
    more = "1 is missing (with these seeds, the experiment has 1 more trial)"
    assert f"{more}. {said}, so more records may" in page
    assert f"{said}. Make the report again when the run has ended" in page
    assert "give the same command again" not in page
    assert "a run is under way" in [row[2] for row in found.sheet().rows]
    assert standing(read_campaign(folder)).under_way == ""


def test_who_looks_at_the_lock_does_not_stop_a_run(folder: Path) -> None:
    with (folder / "campaign.lock").open("w") as looks:
        fcntl.flock(looks, fcntl.LOCK_SH)
        threading.Timer(0.03, fcntl.flock, (looks, fcntl.LOCK_UN)).start()
        with locked(folder):
            assert standing(read_campaign(folder)).under_way


def test_without_a_record_a_run_under_way_is_waited_for(folder: Path) -> None:
    shutil.rmtree(folder / "trials")
    (folder / "trials").mkdir()
    with locked(folder), pytest.raises(UsageError, match=r"under way .*; give the command again l"):
        Campaign(folder)
    with pytest.raises(UsageError, match="; run it again"):
        Campaign(folder)


def test_a_record_that_comes_while_others_are_read_is_left_for_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that makes it has not judged it yet."""
    [record] = (folder / "trials").iterdir()
    aside = shutil.copytree(record, folder.parent / "aside")
    (aside / "judgement.json").unlink()

    def judged(folders: Sequence[Path]) -> Judged:
        shutil.copytree(aside, folder / "trials" / "sd-s1-0")
        return Judged(records=len(folders))

    monkeypatch.setattr(judgement, "bring_up_to_date", judged)
    found = Campaign(folder).records
    assert (len(found.trials), found.unreadable, found.others) == (1, (), ())


def test_the_command_says_it_too(folder: Path) -> None:
    planned = f"{folder}: 3 trials planned: 1 has a record, 1 failed, 1 is missing"
    said = f"{planned} (with these seeds, the experiment has"
    assert said in CliRunner().invoke(command, [str(folder)]).stderr
    with locked(folder):
        done = CliRunner().invoke(command, [str(folder)])
    assert "1 more trial). A run is under way (process" in done.stderr and done.exit_code == 0
