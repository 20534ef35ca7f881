# SPDX-License-Identifier: GPL-2.0-only
"""Which command `./cellbed mininet` gives a lab, and the folder that the lab sees. No lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.commands import mininet
from harness.cli.group import cellbed
from harness.scripts.host import Script


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Script]:
    """The scripts that a lab would run."""
    scripts: list[Script] = []
    monkeypatch.setattr(mininet, "run_script", lambda script, *_, **__: scripts.append(script))
    return scripts


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
