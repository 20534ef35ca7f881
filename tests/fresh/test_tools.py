# SPDX-License-Identifier: GPL-2.0-only
"""lab/programs/tools makes all of its programs, or fails with a sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

FOLDERS = "topology", "bpf", "workload", "lab/programs"
ENTER = '#!/bin/sh\nshift 2\nexec "$@"\n'  # this machine is the image


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one program for each folder."""
    made = tmp_path / "project"
    for name in ("lab/strict", "lab/programs/tools"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, made / name)
    (made / "lab/root").mkdir()
    (made / "lab/root/enter").write_text(ENTER)
    (made / "lab/root/enter").chmod(0o755)
    for name in FOLDERS:
        (made / name).mkdir(exist_ok=True)
        recipe(made / name, "touch $@")
    return made


def recipe(folder: Path, how: str) -> None:
    (folder / "Makefile").write_text(f"$(OUT)/{folder.name}:\n\t{how}\n")


def tools(project: Path) -> subprocess.CompletedProcess[str]:
    argv = [project / "lab/programs/tools", project / "image", project / "output"]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def test_all_programs_are_made(project: Path) -> None:
    done = tools(project)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (project / "output").iterdir()}
    assert made == {Path(name).name for name in FOLDERS}


@pytest.mark.parametrize(
    ("how", "means"),
    [("exit 1", "make ended with status 2"), ("true", "make left some out")],
    ids=["fails", "says that all is well"],
)
def test_a_program_that_is_not_made_is_a_sentence(project: Path, how: str, means: str) -> None:
    recipe(project / "bpf", how)
    done = tools(project)
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert last == f"lab/programs/tools: the programs of bpf could not be built: {means}"
    assert not (project / "output").exists()
