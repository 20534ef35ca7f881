# SPDX-License-Identifier: GPL-2.0-only
"""The script lab/paths: its keys follow the files of the recipes, and it asks few programs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

ASKED = """#!/bin/sh
echo asked >> {folder}/asked
echo 3.12
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


class Places:
    """What lab/paths says with an empty cache, on a machine whose python3 says 3.12."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        (folder / "bin").mkdir()
        python = folder / "bin" / "python3"
        python.write_text(ASKED.format(folder=folder))
        python.chmod(0o755)

    def ask(self, *options: str, project: Path = PROJECT) -> dict[str, str]:
        """The lines, as names and paths."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            [project / "lab" / "paths", *options], capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": path, "CELLBED_CACHE": str(self.cache)},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return dict(line.split("=", 1) for line in done.stdout.splitlines())

    def make(self, version: str, interpreter: str) -> Path:
        """An environment as set-up makes it, with a program of this name."""
        key = "-".join(Path(self.ask()["environment"]).name.split("-")[:2])
        (self.folder / "asked").unlink(missing_ok=True)
        environment = self.cache / f"{key}-{version}"
        (environment / "bin").mkdir(parents=True)
        (environment / "complete").touch()
        real = self.folder / interpreter
        real.write_text("#!/bin/sh\n")
        real.chmod(0o755)
        (environment / "bin" / "python").symlink_to(real)
        return environment

    @property
    def asked(self) -> bool:
        """Did python3 run?"""
        return (self.folder / "asked").exists()


def test_the_one_environment_tells_its_version(places: Places) -> None:
    environment = places.make("3.11", "python3.11")
    assert places.ask()["environment"] == str(environment)
    assert not places.asked


def test_an_environment_of_an_old_python_is_not_used(places: Places) -> None:
    places.make("3.10", "python3.10")
    assert places.ask()["environment"].endswith("-3.12")


@pytest.mark.parametrize("interpreter", ["python3.13", "python"])
def test_an_environment_of_another_python_is_not_used(places: Places, interpreter: str) -> None:
    """As after an upgrade of the machine, which leaves the environment without its packages."""
    places.make("3.11", interpreter)
    assert places.ask()["environment"].endswith("-3.12")
    assert places.asked


def test_an_environment_whose_python_is_gone_is_not_used(places: Places) -> None:
    places.make("3.11", "python3.11")
    (places.folder / "python3.11").unlink()
    assert places.ask()["environment"].endswith("-3.12")


def test_python_says_which_of_several_environments(places: Places) -> None:
    places.make("3.11", "python3.11")
    places.make("3.12", "python3.12")
    assert places.ask()["environment"].endswith("-3.12")
    assert places.asked


def test_debian_s_python_needs_no_other(places: Places) -> None:
    environment = places.make("debian", "loader")
    assert places.ask()["environment"] == str(environment)
    assert not places.asked


def test_the_quick_answer_is_the_same(places: Places) -> None:
    every = places.ask()
    quick = places.ask("--environment")
    assert quick == {name: every[name] for name in ("cache", "environment")}


def test_a_key_is_a_hash_over_the_sums_of_the_recipe_s_files(places: Places) -> None:
    names = ["build", "enter", "index.py", "packages", "resolve.py", "unpack.py"]
    files = [*sorted((PROJECT / "lab" / "image").iterdir())]
    files += [PROJECT / "lab" / "root" / name for name in names]
    lines = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(PROJECT)}\n"
        for path in files
    )
    key = hashlib.sha256(lines.encode()).hexdigest()[:16]
    assert Path(places.ask()["image"]).name == f"image-{key}"


def test_a_file_whose_name_sha256sum_would_change_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    compiled = shutil.ignore_patterns("__pycache__")
    for name in ("bpf", "lab", "tcp-configs", "topology", "workload"):
        shutil.copytree(PROJECT / name, project / name, ignore=compiled)
    (project / "lab" / "vm" / "a\\b").touch()
    done = subprocess.run(
        [project / "lab" / "paths"], capture_output=True, text=True, check=False,
        env={**os.environ, "CELLBED_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert line.endswith("has a backslash or a line break in its name; rename it")
