# SPDX-License-Identifier: GPL-2.0-only
"""The wheel and the sdist: the same bytes each time, and from them the same trials as from here."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.small import PROJECT, TINY

BUILD = """
import sys
sys.path.insert(0, sys.argv[1])
import backend
folder = sys.argv[2]
backend.build_wheel(folder)
backend.build_sdist(folder)
"""
WHEEL, SDIST = "cellbed-*.whl", "cellbed-*.tar.gz"


def build(project: Path, folder: Path) -> tuple[Path, Path]:
    """Wheel and sdist of a project's folder; pip would call the same functions."""
    folder.mkdir()
    argv = [sys.executable, "-c", BUILD, project / "lab/pip", folder]
    subprocess.run(argv, check=True, capture_output=True, timeout=300)
    return next(folder.glob(WHEEL)), next(folder.glob(SDIST))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(PROJECT, tmp_path_factory.mktemp("dist") / "made")


def test_the_wheel_of_the_sdist_is_the_same(made: tuple[Path, Path], tmp_path: Path) -> None:
    """Whatever a build or Python has left in the folder, and whenever it is made."""
    with tarfile.open(made[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.iterdir()
    (unpacked / "harness" / "__pycache__").mkdir()
    (unpacked / "harness" / "__pycache__" / "x.pyc").touch()
    (unpacked / "cellbed.egg-info").mkdir()
    (unpacked / "cellbed.egg-info" / "PKG-INFO").touch()
    wheel, sdist = build(unpacked, tmp_path / "again")
    assert wheel.read_bytes() == made[0].read_bytes()
    assert sdist.read_bytes() == made[1].read_bytes()


def test_twine_accepts_both(made: tuple[Path, Path]) -> None:
    """Their metadata and the page that an index would show; a warning counts, too."""
    argv = [sys.executable, "-m", "twine", "check", "--strict", *made]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def test_the_wheel_has_the_tree_with_its_programs(made: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(made[0]) as wheel:
        assert wheel.testzip() is None
        modes = {one.filename: one.external_attr >> 16 & 0o777 for one in wheel.infolist()}
        assert wheel.read("cellbed.pth") == b"cellbed_tree\n"
    tree = {name.removeprefix("cellbed_tree/") for name in modes if name.startswith("cellbed_tree")}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    left_out = ("tests/", ".")
    assert tree == {name for name in listed.stdout.splitlines() if not name.startswith(left_out)}
    assert modes["cellbed_tree/cellbed"] == modes["cellbed_tree/lab/setup"] == 0o755
    assert modes["cellbed_tree/README.md"] == 0o644


def test_installed_it_plans_the_same_trials(made: tuple[Path, Path], tmp_path: Path) -> None:
    """So it runs the same files with the same set-up: the names have a hash of both."""
    argv = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile",
            "--prefix", tmp_path / "venv", made[0]]  # fmt: skip
    subprocess.run(argv, check=True, capture_output=True, timeout=300)
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    experiment = tmp_path / "tiny.toml"
    experiment.write_text(TINY)
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    names = []
    # A prefix is no place where Python looks for .pth files by itself.
    code = (
        f"import site, sys; site.addsitedir({str(site)!r}); from harness.host import launch; "
        "launch.main()"
    )
    for command in ([str(PROJECT / "cellbed")], [sys.executable, "-P", "-c", code]):
        done = subprocess.run(
            [*command, "run", experiment, "--dry-run"], cwd=tmp_path, env=plain,
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        names.append(done.stdout.splitlines()[0])
    assert names[0] == names[1] and names[0].startswith("todo  SACK-s1-")
    library = (
        f"import site; site.addsitedir({str(site)!r}); import cellbed; print(cellbed.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", library], cwd=tmp_path, env=plain,
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.strip() == str(site / "cellbed_tree" / "cellbed.py")
