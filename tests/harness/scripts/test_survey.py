# SPDX-License-Identifier: GPL-2.0-only
"""The survey's tables on the pages are those of its results; how a run is judged. No lab."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.small import PROJECT

FOLDER = PROJECT / "tests" / "bench" / "mininet"
survey = SimpleNamespace(**runpy.run_path(str(FOLDER / "survey.py"), run_name="survey"))


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_the_page_has_the_table_of_the_results(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    scripts = survey.read_list(FOLDER / f"{name}.toml")
    then = FOLDER / f"{name}-again.jsonl"
    survey.print_page(scripts, FOLDER / f"{name}.jsonl", then if then.exists() else None)
    printed = capsys.readouterr().out
    assert printed in (PROJECT / "docs" / "mininet-samples.md").read_text()


def test_the_users_page_has_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    survey.print_summary(FOLDER)
    assert capsys.readouterr().out in (PROJECT / "docs" / "mininet.md").read_text()
    assert set(survey.SAMPLES) == {path.stem for path in FOLDER.glob("*.toml")}


def test_the_page_has_what_failures_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    survey.print_messages(survey.read_list(FOLDER / "third.toml"), FOLDER / "third.jsonl")
    assert capsys.readouterr().out in (PROJECT / "docs" / "mininet-samples.md").read_text()


@pytest.mark.parametrize("results", sorted(path.stem for path in FOLDER.glob("*.jsonl")))
def test_each_result_is_of_a_script_and_its_commit(results: str) -> None:
    scripts = survey.read_list(FOLDER / f"{results.partition('-')[0]}.toml")
    commits = {f"{script.repository}/{script.path}": script.commit for script in scripts}
    for row in map(json.loads, (FOLDER / f"{results}.jsonl").read_text().splitlines()):
        assert commits[row["script"]] == row["commit"]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_repository_brings_those_in_it(tmp_path: Path) -> None:
    inner, outer, place = (tmp_path / name for name in ("a+inner", "a+outer", "place"))
    for folder in (inner, outer):
        folder.mkdir()
        git(folder, "init", "-q")
    (inner / "helper.py").write_text("")
    git(inner, "add", "helper.py")
    git(inner, "commit", "-q", "-m", "x")
    commit = git(inner, "rev-parse", "HEAD")
    (outer / ".gitmodules").write_text(
        '[submodule "u"]\n\tpath = util\n\turl = git@github.com:a/inner.git\n'
    )
    git(outer, "add", ".gitmodules")
    git(outer, "update-index", "--add", "--cacheinfo", f"160000,{commit},util")
    git(outer, "commit", "-q", "-m", "x")
    survey.export(tmp_path, "a/outer", git(outer, "rev-parse", "HEAD"), place)
    assert (place / "util" / "helper.py").is_file()


@pytest.mark.parametrize(
    ("status", "kept", "result"),
    [(0, True, "passes"), (0, False, "wrong"), (1, True, "fails"), (None, True, "fails")],
)
def test_a_wrong_script_ends_well_and_breaks_its_promise(
    status: int | None, kept: bool, result: str
) -> None:
    attempt = survey.Attempt(status=status, kept=kept, reason="", host_s=1.0)
    assert survey.judge(attempt) == result


LOOP = "while :; do :; done"


@pytest.mark.parametrize(
    ("command", "limits_s", "status", "why"),
    [
        (LOOP, (0.2, 600), None, survey.NO_END),
        ("sleep 3; cat", (0.2, 600), 0, ""),
        ("exec sleep 600", (60, 1), None, survey.WAITED),
        (f"trap '' TERM; {LOOP}", (0.2, 600), None, survey.NO_END),
    ],
)
def test_an_attempt_ends_at_its_limits_and_waiting_takes_no_processor_time(
    command: str, limits_s: tuple[float, float], status: int | None, why: str
) -> None:
    """Also if it waits for ever, and if it does not end when it is asked to."""
    argv = ["sh", "-c", command]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert survey.wait_within(process, "x", *limits_s, 0.5)[:2] == (status, why)
    assert process.returncode is not None


def test_the_processor_time_of_an_attempt_has_programs_that_are_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The program in the background is nobody's child when it ends."""
    monkeypatch.setitem(survey.attempt.__globals__, "log_of", lambda script: Path(os.devnull))
    fields = dict.fromkeys(("theme", "repository", "commit", "path", "text"), "")
    argv = ["sh", "-c", "timeout 20 sh -c 'while :; do :; done' & sleep 600"]
    ended = survey.attempt(argv, survey.Script(**fields, promise=["x"]), 0.5)
    assert ended.reason == survey.NO_END
    assert ended.cpu_s > 0.5


def test_a_corrected_entry_counts_but_a_corrected_cellbed_does_not() -> None:
    fields = dict.fromkeys(("theme", "repository", "commit", "text"), "x")
    names, again = ("entry", "cellbed", "same"), {"promise": ["y"]}
    corrections = [{"again": again}, {"again": again, "fault": "cellbed"}, {}]
    scripts = [
        survey.Script(**fields, path=name, promise=[], **more)
        for name, more in zip(names, corrections, strict=True)
    ]
    wrong = {"result": "wrong", "reason": ""}
    first = {f"x/{name}": wrong for name in names}
    later = {f"x/{name}": {**wrong, "result": "passes"} for name in names}
    results = survey.entries_corrected(scripts, first, later)
    assert results == ["passes", "wrong", "wrong"]
    assert survey.share(results) == "33 %"


def test_an_attempt_that_waits_for_ever_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(survey.attempt.__globals__, "log_of", lambda script: Path(os.devnull))
    fields = dict.fromkeys(("theme", "repository", "commit", "path", "text"), "")
    ended = survey.attempt(["sleep", "600"], survey.Script(**fields, promise=["x"]), 0.05)
    assert (ended.status, ended.reason) == (None, "no end within 20 times the limit, in real time")


def test_a_row_without_processor_time_has_none_on_the_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fields = dict.fromkeys(("theme", "repository", "commit", "text"), "x")
    scripts = [survey.Script(**fields, path=name, promise=[]) for name in ("new", "old")]
    row = {"result": "passes", "options": "", "reason": "", "seconds": 70}
    rows = [{**row, "script": "x/new", "cpu_s": 5}, {**row, "script": "x/old"}]
    (tmp_path / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    survey.print_page(scripts, tmp_path / "rows")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["| x | x/new | passes |  | 5 |", "| x | x/old | passes |  |  |"]


def test_the_processor_time_of_a_process_is_that_of_its_children_too() -> None:
    argv = ["sh", "-c", "sh -c 'while :; do :; done'; true"]
    process = subprocess.Popen(argv, start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while survey.processor_s(process.pid) < 0.2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("result", "error", "told"),
    [
        ("fails", "SyntaxError: bad, line 3", "fails as on a real machine"),
        ("fails", "SyntaxError: another", "fails"),
        ("passes", "SyntaxError: bad, line 3", "passes"),
    ],
)
def test_a_failure_is_the_scripts_own_only_with_its_error_in_the_row(
    result: str, error: str, told: str
) -> None:
    fields = dict.fromkeys(("theme", "repository", "commit", "path", "text"), "")
    script = survey.Script(**fields, promise=[], own_error="SyntaxError: bad")
    for row in ({"reason": error}, {"reason": "", "errors": ["x", error]}):
        assert survey.result_of(script, {"result": result, **row}) == told
    plain = survey.Script(**fields, promise=[])
    assert survey.result_of(plain, {"result": result, **row}) == result
