# SPDX-License-Identifier: GPL-2.0-only
"""Who uses the project keeps experiments and scripts in its folder: make check lets them be."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small import PROJECT
from tests.tracked import tracked

BAD = "import os, sys\nl = lambda x : os\ndef f(a = []) : return undefined_name\n"
OURS = ("harness/a_new_file.py", BAD)
USERS = {
    "buffers.toml": 'name = "buffers"\n',  # README's own, where README has it run
    "notes.py": BAD,
    "my_script.py": "from mininet.net import Mininet\n",
    "scripts/topology.py": BAD,
    "results/x/campaign.py": BAD,
    "mine/1/experiment.toml": "",
    "queue.c": "int main;\n",
    "lab.sh": "true\n",
}
JUDGES = "test_every_folder_is_known or test_every_source_names_its_licence"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the present files, with a user's own in it."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in tracked():
        target = folder / path.relative_to(PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    for name, text in USERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What make runs to check style."""
    made = subprocess.run(
        ["make", "-n", "lint"], cwd=folder, capture_output=True, text=True, check=True
    )
    [command] = [line for line in made.stdout.splitlines() if " -m ruff " in line]
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)  # noqa: S602


def judged(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "tests/test_architecture.py", "-k", JUDGES],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_style(checkout: Path) -> None:
    done = lint(checkout)
    assert done.returncode == 0, done.stdout


def test_folders_and_licences(checkout: Path) -> None:
    done = judged(checkout)
    assert done.returncode == 0, done.stdout


def test_a_file_of_the_project_is_judged(checkout: Path) -> None:
    name, text = OURS
    (checkout / name).write_text(text)
    subprocess.run(["git", "add", name], cwd=checkout, check=True)
    try:
        assert "undefined_name" in lint(checkout).stdout
        assert name in judged(checkout).stdout
    finally:
        subprocess.run(["git", "rm", "-q", "--cached", name], cwd=checkout, check=True)
        (checkout / name).unlink()


def test_a_tree_without_git_is_judged_whole(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout, tmp_path / "tree", ignore=shutil.ignore_patterns(".git", "tests"))
    assert "notes.py" in lint(tmp_path / "tree").stdout
