# SPDX-License-Identifier: GPL-2.0-only
"""Wheel and sdist in an environment with nothing but pip: the command runs this machine's trial.

The command has an environment of its own, so pip installs none of the library's packages here.
CELLBED_SLOW_TESTS=1 installs these, too, in minutes, and runs the trial by the library. What pip
fetches comes from the index that this machine is set up for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fresh.test_debian import SLOW, SMALL, here, record
from tests.harness.api.test_wheel import build
from tests.small import PROJECT

__all__ = ["here"]
pytestmark = pytest.mark.lab
LIMIT_S = 1800
KINDS = ["wheel", "sdist"]
LIBRARY = """
import sys
import cellbed
campaign = cellbed.Experiment.from_file(sys.argv[1]).run(out=sys.argv[2])
print(cellbed.__file__)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    wheel_and_sdist = build(PROJECT, tmp_path_factory.mktemp("dist") / "made")
    return dict(zip(KINDS, wheel_and_sdist, strict=True))


def run(*argv: str | Path, folder: Path) -> str:
    """What a command prints that ends well; it sees neither this project nor this environment."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    done = subprocess.run(
        argv, cwd=folder, env={name: x for name, x in os.environ.items() if name not in hidden},
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def installed(package: Path, folder: Path, *options: str) -> Path:
    """The folder of the programs of a new environment with the package."""
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    programs = folder / "venv" / "bin"
    before = run(programs / "python", "-Im", "pip", "list", "--format=json", folder=folder)
    assert {found["name"] for found in json.loads(before)} <= {"pip", "setuptools"}
    run(programs / "python", "-Im", "pip", "install", "-q", *options, package, folder=folder)
    return programs


def assert_same(results: Path, here: list[str]) -> None:  # noqa: F811
    """Is its one record this machine's?"""
    [trial] = (results / "trials").iterdir()
    assert json.loads((trial / "judgement.json").read_text())["valid"]
    assert record((trial / "SHA256SUMS").read_text()) == here


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_runs_a_trial(
    kind: str, made: dict[str, Path], here: list[str], tmp_path: Path  # noqa: F811
) -> None:
    programs = installed(made[kind], tmp_path, "--no-deps")
    run(programs / "cellbed", "run", SMALL, "--out", "results", folder=tmp_path)
    assert_same(tmp_path / "results", here)


@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
@pytest.mark.parametrize("kind", KINDS)
def test_the_library_runs_a_trial(
    kind: str, made: dict[str, Path], here: list[str], tmp_path: Path  # noqa: F811
) -> None:
    """With all that pip finds for it."""
    programs = installed(made[kind], tmp_path)
    run(programs / "python", "-Im", "pip", "check", folder=tmp_path)
    results = tmp_path / "results"
    said = run(programs / "python", "-c", LIBRARY, SMALL, results, folder=tmp_path)
    assert Path(said.splitlines()[-1]).is_relative_to(tmp_path / "venv")
    assert_same(results, here)
