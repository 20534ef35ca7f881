# SPDX-License-Identifier: GPL-2.0-only
"""The survey's table in docs/mininet.md is that of its results; how a run is judged. No lab."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.small import PROJECT

FOLDER = PROJECT / "tests" / "bench" / "mininet"
survey = SimpleNamespace(**runpy.run_path(str(FOLDER / "survey.py"), run_name="survey"))


def test_the_page_has_the_table_of_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = survey.read_list(FOLDER / "survey.toml")
    survey.print_page(scripts, FOLDER / "survey.jsonl")
    printed = capsys.readouterr().out
    assert printed in (PROJECT / "docs" / "mininet.md").read_text()


def test_each_script_has_a_result_of_its_commit() -> None:
    rows = map(json.loads, (FOLDER / "survey.jsonl").read_text().splitlines())
    results = {row["script"]: row["commit"] for row in rows}
    for script in survey.read_list(FOLDER / "survey.toml"):
        assert results.pop(f"{script.repository}/{script.path}") == script.commit
    assert results == {}


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
