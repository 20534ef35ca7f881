# SPDX-License-Identifier: GPL-2.0-only
"""Which command `./cellbed mininet` gives a lab, and the folder that the lab sees. No lab."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cli import scripts
from harness.cli.commands import mininet
from harness.cli.group import cellbed
from harness.host.paths import PROJECT
from harness.scripts.host import Ended, Heard, Script


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Script]:
    """The scripts that a lab would run."""
    wanted: list[Script] = []
    monkeypatch.setattr(mininet, "run_script", lambda script, *_, **__: wanted.append(script))
    return wanted


def test_a_link_runs_its_script_in_the_folder_of_that(tmp_path: Path, asked: list[Script]) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real.sh").write_text("")
    (tmp_path / "link").symlink_to("there/real.sh")
    cellbed(["mininet", str(tmp_path / "link"), "--out", "x"], standalone_mode=False)
    assert [(script.argv, script.folder) for script in asked] == [
        (["bash", "real.sh", "--out", "x"], (tmp_path / "there").resolve())
    ]


def test_a_name_with_a_hyphen_is_no_option(
    tmp_path: Path, asked: list[Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "-c.py").write_text("")
    monkeypatch.chdir(tmp_path)
    cellbed(["mininet", "./-c.py"], standalone_mode=False)
    assert asked[0].argv == ["python3", "./-c.py"]


@pytest.mark.parametrize(
    ("name", "begin", "interpreter"),
    [
        ("run", "#!/bin/bash -e\n", "bash"),
        ("run", "#! /usr/bin/env sh\n", "bash"),
        ("run", "#!/usr/bin/env python3\n", "python3"),
        ("run.v2", "import os\n", "python3"),
        ("run.py", "#!/bin/sh\n", "python3"),
    ],
)
def test_a_name_without_an_end_says_nothing(
    tmp_path: Path, asked: list[Script], name: str, begin: str, interpreter: str
) -> None:
    (tmp_path / name).write_text(begin)
    cellbed(["mininet", str(tmp_path / name)], standalone_mode=False)
    assert asked[0].argv == [interpreter, name]


def page_of_options() -> set[str]:
    """The options in the table of docs/mininet.md."""
    lines = (PROJECT / "docs" / "mininet.md").read_text().splitlines()
    rows = [line.split("|")[1] for line in lines if line.startswith("| `--")]
    return {name for row in rows for name in re.findall(r"`(--[\w-]+)", row)}


def test_the_page_has_all_options() -> None:
    assert page_of_options() == {name for one in scripts.script_parameters() for name in one.opts}


@pytest.mark.parametrize(("status", "told"), [(1, True), (0, False)])
def test_an_option_after_the_name_of_a_script_that_fails_is_told(
    status: int, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(argv=["python3", "x.py", "--limit=5", "--own"], folder=tmp_path)
    with pytest.raises(SystemExit):
        scripts.leave(script, Ended(status=status, stopped="", full=[]))
    said = "cellbed: --limit=5 stands after the name of the script"
    assert capsys.readouterr().err.startswith(said) == told


@pytest.mark.parametrize(("at_terminal", "asked"), [(True, True), (True, False), (False, True)])
def test_a_script_that_asks_in_vain_is_told_of_the_real_clock(
    at_terminal: bool,
    asked: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: at_terminal))
    heard = Heard()
    heard.listen("mininet> \n" if asked else "pingall\n")
    script = Script(argv=["python3", "x.py"], folder=tmp_path)
    with pytest.raises(SystemExit):
        scripts.leave(script, Ended(status=0, stopped="", full=[], asked=heard.asked))
    assert ("--clock real" in capsys.readouterr().err) == (at_terminal and asked)
