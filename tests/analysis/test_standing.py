# SPDX-License-Identifier: GPL-2.0-only
"""The report says first which trials of its campaign have a record, failed, or are missing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.records import read_campaign
from analysis.report import write_report
from analysis.report.standing import standing
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
        "3 trials planned: 1 has a record, 1 failed, 1 is missing (the experiment has 1 more trial)"
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
    assert "1 trial planned: has a record." in text
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
