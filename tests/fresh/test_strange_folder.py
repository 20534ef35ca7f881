# SPDX-License-Identifier: GPL-2.0-only
"""The launcher runs no Python that lies where it is called from, or is named by PYTHON*."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small import PROJECT

# Of the project, of Python itself, of its packages, and what Python loads unasked.
NAMES = (
    *(
        "analysis",
        "plan",
        "topology",
        "harness",
        "workload",
        "studies",
        "cellbed",
        "tomllib",
        "json",
    ),
    *("json", "tomllib", "logging", "numpy", "click", "sitecustomize", "usercustomize", "startup"),
)
COMMANDS = ["flavors --help", "mininet --help", "course list", "course check 1 .", "watch --help"]


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A folder of modules that leave a mark when they run."""
    mark = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__ + ' ')\n"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(mark)
    (tmp_path / "answers.toml").write_text('name = "Ada"\n')
    return tmp_path


def marks(folder: Path) -> str:
    """Names of the modules that ran."""
    path = folder / "ran"
    return path.read_text() if path.exists() else ""


def run(folder: Path, words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROJECT / "cellbed", *words.split()], cwd=folder, env={**os.environ, **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_called_from_there(strange: Path, words: str) -> None:
    done = run(strange, words)
    assert marks(strange) == ""
    assert "Traceback" not in done.stderr
    assert done.returncode == (5 if "check" in words else 0), done.stderr


@pytest.mark.parametrize("path", ["{}", ":/nowhere"], ids=["the folder", "an empty part"])
def test_an_environment_that_names_it(strange: Path, path: str) -> None:
    done = run(
        strange, "course list", PYTHONPATH=path.format(strange), PYTHONUSERBASE=str(strange),
        PYTHONSTARTUP=str(strange / "startup.py"), PYTHONINSPECT="1", PYTHONHOME=str(strange),
    )  # fmt: skip
    assert marks(strange) == ""
    assert done.returncode == 0 and done.stdout, done.stderr


def test_what_make_starts_looks_there_no_more(strange: Path) -> None:
    """What make starts itself."""
    done = subprocess.run(
        ["make", "-C", PROJECT, "-n", "man", "lint", "check"], cwd=strange,
        env={**os.environ, "PYTHONPATH": str(strange)}, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    started = [line for line in done.stdout.splitlines() if "/bin/python" in line]
    assert len(started) >= 4
    assert [line for line in started if "/bin/python -P " not in line] == []
    assert marks(strange) == ""


def test_the_marks_are_left_by_a_python_that_looks_there(strange: Path) -> None:
    """The test itself can fail."""
    subprocess.run([sys.executable, "-c", "import tomllib"], cwd=strange, check=False)
    assert "tomllib" in marks(strange)
