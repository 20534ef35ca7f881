# SPDX-License-Identifier: GPL-2.0-only
"""Facts stay, judgement is computed from them: anew when its code, or when they, have changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.api import verdict
from harness.cli.group import cellbed
from harness.judge import fidelity, judgement
from harness.judge.judgement import bring_up_to_date, current, version
from harness.records import record, sources
from harness.records.seal import changed_files
from plan.checks import CheckResult, check
from plan.errors import CellbedError, UsageError
from plan.facts import TrialFacts
from plan.plan import Plan
from tests import made_plans
from tests.small import PROJECT, small_trials
from tests.test_version import VERSION
from topology import cellq_log

COSTS = {"wall_s": 2.0, "cpu_s": 1.5}
FLOWS = "pair,received_bytes,scheduled_bytes,answered,retransmits,timeouts\n"


def queue() -> dict[str, Any]:
    return {
        "peak_cells": 77,
        "cells": {"accepted": 1000, "wasted": 10},
        "last_departure_ns": 5_000_000_000,
    }


def raw_folder(folder: Path) -> Path:
    """What a lab might have left."""
    folder.mkdir()
    lab = {
        "virtual_s": 12.5,
        "queue": {"down": queue(), "up": queue()},
        "source": {"t0_ns": 3_000_000_000, "offered": 9},
        "probed_rate_bit_per_s": {"down": 44_990_000},
    }
    (folder / "lab.json").write_text(json.dumps(lab))
    (folder / "requests.csv").touch()
    (folder / "flows.csv").write_text(
        FLOWS + "".join(f"{pair},14000000,20000000,3,1,0\n" for pair in (1, 2, 3, 4))
    )
    return folder


def link_rate(lab: TrialFacts, plan: Plan) -> list[CheckResult]:
    """Checks of a lab that knows no more than a rate."""
    rate, found = plan.topology.rate_bit_per_s, lab.probed_rate_bit_per_s["down"]
    return [check("link rate", found, rate, rate * 1e-3, "bit/s")]


@pytest.fixture(autouse=True)
def few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fidelity, "checks_of", link_rate)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The folder of one record, judged."""
    trial = small_trials(tmp_path)[0]
    software = {"lab": "paper"}
    record.finish(trial, software, raw_folder(tmp_path / "raw"), tmp_path / "trials", COSTS)
    folder = tmp_path / "trials" / trial.name
    current(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All files but the judgement."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != judgement.FILE}


def other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgement, "version", lambda study: "another version")


def test_a_record_has_the_labs_document_whole(made: Path, tmp_path: Path) -> None:
    document = judgement.document(made)
    lab = json.loads((tmp_path / "raw" / "lab.json").read_text())
    assert {key: document[key] for key in lab} == lab
    assert document["valid"] and document["metrics"]["efficiency"] > 0
    assert (document["wall_s"], document["software"]) == (2.0, {"lab": "paper"})


def test_what_tells_of_the_run_is_in_a_file_of_its_own(made: Path) -> None:
    text = (made / "lab.json").read_text()
    assert "virtual_s" not in text and "t0_ns" not in text and "departure_ns" not in text
    run = json.loads((made / "run.json").read_text())
    assert run["lab"]["source"] == {"t0_ns": 3_000_000_000}
    assert run["lab"]["queue"]["up"] == {"last_departure_ns": 5_000_000_000}
    assert run["cellbed"] == VERSION


def test_a_changed_check_judges_the_old_record_anew(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, old = contents(made), judgement.known(made)

    def stricter(lab: TrialFacts, plan: Plan) -> list[CheckResult]:
        verdict = link_rate(lab, plan)[0]
        return [check("link rate", verdict["measured"], verdict["expected"], 1, "bit/s")]

    assert bring_up_to_date([made]).judged == 0
    monkeypatch.setattr(fidelity, "checks_of", stricter)
    other_code(monkeypatch)
    found = bring_up_to_date([made])
    assert (found.records, found.judged) == (1, 1)
    assert found.changes == {made.name: ["link rate: ok (44990000) -> FAILED (44990000)"]}
    assert old is not None and old["valid"] and not judgement.document(made)["valid"]
    assert contents(made) == before
    assert bring_up_to_date([made]).judged == 0


def test_a_changed_metric_is_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_code(monkeypatch)
    monkeypatch.setattr(judgement, "of_queue", lambda facts: {"peak_cells": 78})
    assert bring_up_to_date([made]).changes == {
        made.name: ["peak_cells: 77 -> 78", "wasted_share: 0.01 -> -"]
    }


def test_other_code_with_the_same_verdicts_changes_nothing_but_the_version(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_code(monkeypatch)
    found = bring_up_to_date([made])
    assert (found.judged, found.changes) == (1, {})
    assert found.lines() == [
        "1 of 1 records judged anew; 0 verdicts or figures changed, in 0 records"
    ]


@pytest.mark.parametrize("name", ["lab.json", "flows.csv", "run.json", "trial.json"])
def test_edited_facts_are_noticed(made: Path, name: str) -> None:
    """Also where all figures stay as they were: here an empty line is put behind the last."""
    (made / name).write_bytes((made / name).read_bytes() + b"\n")
    found = bring_up_to_date([made])
    assert found.changes == {made.name: ["record unchanged: ok (0) -> FAILED (1)"]}
    document = judgement.document(made)
    assert not document["valid"]
    assert document["checks"][-1]["why"] == name
    assert bring_up_to_date([made]).judged == 0


def test_a_record_without_its_checksums_is_noticed(made: Path) -> None:
    (made / "SHA256SUMS").unlink()
    assert not judgement.document(made)["valid"]


def test_a_check_whose_facts_were_not_recorded_fails_and_says_so(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fidelity, "checks_of", lambda lab, plan: [lab.losses])
    other_code(monkeypatch)
    document = judgement.document(made)
    [failed] = [check for check in document["checks"] if not check["ok"]]
    assert "the record has no losses" in failed["why"]
    assert not document["valid"] and document["metrics"]["efficiency"] > 0


def test_flows_that_are_no_numbers_are_a_failed_check_and_no_traceback(made: Path) -> None:
    (made / "flows.csv").write_text(FLOWS + "1,many,,,,\n")
    document = judgement.document(made)
    failed = {check["name"]: check["why"] for check in document["checks"] if not check["ok"]}
    assert set(failed) == {"record unchanged", "metrics"} and "many" in failed["metrics"]
    assert document["metrics"] == {"efficiency": None, "fairness": None}


def of_study(made: Path, study: str, buffer: float | str = 0.5) -> None:
    """Let the record say that it was run for a study, in a cell of 98-0876R1."""
    path = made / "trial.json"
    document = json.loads(path.read_text())
    document["plan"]["study"] = study
    document["factors"] = {"network": "WAN", "flavor": "SACK", "policy": "EPD", "buffer": buffer}
    path.write_text(json.dumps(document))


def test_the_published_figures_are_the_studys(made: Path) -> None:
    assert judgement.document(made)["published"] == {}
    of_study(made, "ubrplus_1998")
    document = judgement.document(made)
    assert document["published"] == {"efficiency": 0.8144, "fairness": 0.7937}
    assert document["judged_by"] == version("ubrplus_1998") != version(None)


def test_a_level_that_the_study_has_not_has_no_published_figures(made: Path) -> None:
    of_study(made, "ubrplus_1998", buffer="small")
    document = judgement.document(made)
    assert document["published"] == {} and document["metrics"]["efficiency"] > 0


def test_what_a_study_cannot_measure_is_a_failed_check(made: Path) -> None:
    of_study(made, "ubr_1996")
    document = judgement.document(made)
    failed = {check["name"]: check["why"] for check in document["checks"] if not check["ok"]}
    assert "received_whole_bytes" in failed["least_share"]
    assert document["metrics"]["least_share"] is None


def test_a_study_that_is_not_there_is_named_with_those_that_are(made: Path) -> None:
    of_study(made, "ubr_1895")
    with pytest.raises(
        UsageError,
        match="study = ubr_1895: this study does not exist; the studies are .*ubr_1996, ",
    ):
        judgement.document(made)


NONE = '{"format": "cellbed-judgement/2"}'
ODD = '{"format": "cellbed-judgement/2", "checks": [1], "metrics": 2, "published": 3, "valid": 4}'


@pytest.mark.parametrize("text", ["", "{", "[]", "null", NONE, ODD])
def test_a_damaged_judgement_is_made_anew(made: Path, text: str) -> None:
    whole = (made / judgement.FILE).read_text()
    (made / judgement.FILE).write_text(text)
    assert judgement.document(made)["valid"]
    assert (made / judgement.FILE).read_text() == whole


def test_a_judge_killed_at_any_moment_loses_nothing(made: Path, tmp_path: Path) -> None:
    """Another process judges over and over, by a new version each time, and is killed."""
    program = (
        "import sys, itertools\n"
        "from pathlib import Path\n"
        "from harness.judge import judgement\n"
        "for number in itertools.count():\n"
        "    judgement.version = lambda study: str(number)\n"
        "    judgement.current(Path(sys.argv[1]))\n"
        "    if not number: print('begun', flush=True)\n"
    )
    before = contents(made)
    for delay_s in (0.0, 0.001, 0.003, 0.007, 0.02):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(made)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        with process:
            assert process.stdout is not None and process.stdout.readline() == b"begun\n"
            time.sleep(delay_s)  # the moment of the kill, not a wait for anything
            process.send_signal(signal.SIGKILL)
        assert judgement.known(made) is not None
    assert judgement.document(made)["valid"]
    assert contents(made) == before, "a killed judge's file is left, or a fact is another"


def test_a_record_killed_in_the_making_is_whole_or_not_there(tmp_path: Path) -> None:
    """Another process makes records, one after the other, and is killed."""
    program = (
        "import sys, itertools, dataclasses\n"
        "from pathlib import Path\n"
        "from harness.records import record\n"
        "from tests.small import small_trials\n"
        "folder = Path(sys.argv[1])\n"
        "trial = small_trials(folder)[0]\n"
        "for number in itertools.count():\n"
        "    one = dataclasses.replace(trial, name=f'{sys.argv[2]}-{number}')\n"
        "    record.finish(one, {}, folder / 'raw', folder / 'trials', {'wall_s': 1, 'cpu_s': 1})\n"
        "    if not number: print('begun', flush=True)\n"
    )
    raw_folder(tmp_path / "raw")
    path = f"{PROJECT}:{PROJECT / 'tests'}"
    for delay_s in (0.001, 0.002, 0.005, 0.011):
        argv = [sys.executable, "-c", program, str(tmp_path), str(delay_s)]
        environment = {**os.environ, "PYTHONPATH": path}
        with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None and process.stdout.readline() == b"begun\n"
            time.sleep(delay_s)
            process.send_signal(signal.SIGKILL)
    made = judgement.records(tmp_path)
    assert len(made) >= 4
    assert not [changed for folder in made if (changed := changed_files(folder))]
    assert all(judgement.document(folder)["metrics"] for folder in made)


@pytest.mark.parametrize("length", [7, 20, 40])
def test_a_cut_file_of_the_queue_is_no_record(tmp_path: Path, length: int) -> None:
    """Cut in its header, in its first record, in its second."""
    raw = raw_folder(tmp_path / "raw")
    sample = cellq_log.LAYOUTS[cellq_log.SAMPLE].pack(cellq_log.SAMPLE, 1, 300, 4_000_000_000)
    header = cellq_log.HEADER.pack(cellq_log.MAGIC, cellq_log.VERSION, cellq_log.HEADER.size)
    whole = header + 2 * sample
    assert length < len(whole)
    (raw / "up.cellq").write_bytes(whole)
    (raw / "down.cellq").write_bytes(whole[:length])
    [trial, *_] = small_trials(tmp_path)
    with pytest.raises(ValueError, match=r"down.cellq is (cut short|damaged at byte)"):
        record.finish(trial, {}, raw, tmp_path / "trials", COSTS)
    assert not list((tmp_path / "trials").iterdir())


def test_a_record_that_is_there_stays(made: Path, tmp_path: Path) -> None:
    """A second one of the same name is not written over it."""
    before, trial = contents(made), small_trials(tmp_path)[0]
    record.finish(trial, {"lab": "other"}, tmp_path / "raw", tmp_path / "trials", COSTS)
    assert contents(made) == before and list((tmp_path / "trials").iterdir()) == [made]


def test_the_version_is_of_all_that_judges() -> None:
    names = {str(p.relative_to(PROJECT)) for p in sources.imported_by("harness.judge.judgement")}
    wanted = {"harness/judge/judgement.py", "harness/judge/fidelity.py", "analysis/metrics.py"}
    assert wanted | {"analysis/study.py", "analysis/records.py"} <= names
    assert not any(name.startswith(("harness/agent", "analysis/report")) for name in names)


def test_another_check_is_another_version(tmp_path: Path) -> None:
    """In a copy of the project, since this process has its version already."""
    for folder in ("harness", "analysis", "lab", "plan", "studies", "topology", "workload"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / folder, tmp_path / folder, ignore=skipped)
    code = "from harness.judge import judgement; print(judgement.version('ubrplus_1998'))"
    ask = [sys.executable, "-B", "-c", code]

    def asked() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            ask, check=True, capture_output=True, text=True, env=environment, cwd=tmp_path
        ).stdout.strip()

    assert asked() == version("ubrplus_1998") != version(None)
    study = "studies/ubrplus_1998"
    changed = ("harness/judge/fidelity.py", f"{study}/published/results.csv", f"{study}/study.py")
    of_kinds = ("harness/judge/checks/link.py", "workload/checks.py", "workload/www/source.py",
                "topology/delays/connection/checks.py")  # fmt: skip
    for name in (*changed, *of_kinds):
        before = asked()
        with (tmp_path / name).open("a") as stream:
            stream.write("# changed\n")
        assert asked() != before, name
    before = asked()
    (tmp_path / "analysis" / "report" / "plots.py").write_text("")
    (tmp_path / study / "pages.py").write_text("")
    (tmp_path / "harness" / "agent" / "prompt.py").write_text("")
    assert asked() == before


def command(*words: object) -> Result:
    return CliRunner().invoke(cellbed, [str(word) for word in words])


@pytest.fixture
def campaign(made: Path, tmp_path: Path) -> Path:
    """The campaign directory of the record."""
    header = {"format": "cellbed-campaign/1", "name": "small", "title": "small", "text": ""}
    (tmp_path / "campaign.json").write_text(json.dumps(header))
    return tmp_path


def test_judge_says_what_changed_and_runs_nothing(
    campaign: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command("judge", campaign)
    assert (done.exit_code, done.output.count("\n")) == (0, 1)
    assert done.output.startswith("0 of 1 records judged anew; 0 verdicts or figures changed")
    monkeypatch.setattr(judgement, "of_queue", lambda facts: {"peak_cells": 1, "wasted_share": 0})
    other_code(monkeypatch)
    lines = command("judge", campaign).output.splitlines()
    assert lines == [
        f"{made.name}: peak_cells: 77 -> 1",
        f"{made.name}: wasted_share: 0.01 -> 0",
        "1 of 1 records judged anew; 2 verdicts or figures changed, in 1 records",
    ]


def test_report_judges_before_it_uses_a_record(campaign: Path, made: Path) -> None:
    (made / judgement.FILE).unlink()
    (made / "flows.csv").write_text(FLOWS)
    done = command("report", campaign)
    assert done.exit_code == 0 and "1 of 1 records judged anew" in done.output
    text = (campaign / "report" / "report.md").read_text()
    assert "record unchanged: 1 files, but 0 was expected (flows.csv)" in text
    why = verdict.why_invalid(judgement.document(made))
    assert why.endswith("record unchanged (flows.csv)")


def test_judge_names_what_it_cannot_read(campaign: Path, made: Path) -> None:
    (made / "lab.json").write_text("{")
    done = command("judge", campaign)
    assert isinstance(done.exception, CellbedError) and done.exception.exit_code == 1
    assert "1 records cannot be read" in str(done.exception)
    assert "lab.json is not JSON" in str(done.exception)


def test_judge_refuses_what_is_no_campaign(tmp_path: Path) -> None:
    done = command("judge", tmp_path / "none")
    assert isinstance(done.exception, UsageError) and "does not exist; name a folder" in str(
        done.exception
    )


def test_a_share_of_no_cells_is_none() -> None:
    nothing = {"peak_cells": 0, "cells": {"accepted": 0, "wasted": 0}}
    found = made_plans.plan().queue.down.figures(nothing, None)
    assert found == {"peak_cells": 0, "wasted_share": None}
