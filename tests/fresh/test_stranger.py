# SPDX-License-Identifier: GPL-2.0-only
"""A Linux that is no Debian runs the trial of this machine, byte for byte: what it needs is Python.

The kernel is this machine's, as any machine's build root makes the same; CELLBED_SLOW_TESTS=1 makes
it there, too, and compares the bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.host import paths
from tests.fresh import trees
from tests.fresh.releases import named_release
from tests.fresh.test_debian import SLOW, SMALL, assert_same_products, here, record
from tests.small import PROJECT

__all__ = ["here"]
SCRIPT = PROJECT / "tests" / "fresh" / "stranger"
HOME = "root/home/a user"
USER = 1000
NEEDS_MUSL = pytest.mark.skipif(
    shutil.which("musl-gcc") is None, reason="slow: and needs the package musl-tools"
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, or sudo without a password")


def stranger(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [str(SCRIPT), *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=trees.LIMIT_S, check=False)


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The machine; a parameter is its tools."""
    made = trees.place() / f"stranger-{os.getpid()}"
    done = stranger("make", made, *([request.param] if getattr(request, "param", "") else []))
    assert done.returncode == 0, done.stderr
    yield made
    shutil.rmtree(made)


def give(kernel: Path, folder: Path) -> None:
    """A product of this machine's, as its own."""
    cache = folder / HOME / ".cache" / "cellbed"
    shutil.copytree(kernel, cache / kernel.name, symlinks=True)
    for path in [cache.parent, *cache.parent.rglob("*")]:
        os.chown(path, USER, USER, follow_symlinks=False)


def runs_as_a_job(folder: Path, here: list[str]) -> None:  # noqa: F811
    """The script of the CI action runs the trial, from a release in the home folder."""
    small = SMALL.relative_to(PROJECT)
    done = stranger("run", folder, f"lab/ci/experiment/run ~/release.tar {small} ~/out --jobs 1")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    [trial] = (folder / HOME / "out" / "campaign" / "trials").iterdir()
    judgement = json.loads((trial / "judgement.json").read_text())
    assert judgement["valid"], judgement["checks"]
    assert record((trial / "SHA256SUMS").read_text()) == here


@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
@pytest.mark.parametrize(
    "folder",
    ["", "busybox", pytest.param("musl", marks=NEEDS_MUSL)],
    ids=["GNU's", "Alpine's", "no glibc"],
    indirect=True,
)
def test_a_release_is_enough(folder: Path, here: list[str], tmp_path: Path) -> None:  # noqa: F811
    """Nothing is installed or built there, whosever `df`, `sed`, `tar` and libc the machine has."""
    argv = [PROJECT / "cellbed", "release", "--out", tmp_path]
    subprocess.run(argv, check=True, capture_output=True, timeout=trees.LIMIT_S)
    [archive] = tmp_path.glob("*.tar")
    shutil.copy(archive, folder / HOME / "release.tar")
    runs_as_a_job(folder, here)
    assert not list((folder / HOME / ".cache" / "cellbed").glob("root-*"))


def test_a_trial_is_the_same(folder: Path, here: list[str], tmp_path: Path) -> None:  # noqa: F811
    absent = stranger("run", folder, "! type apt-get dpkg gcc cc make sudo && ! ls /dev/kvm")
    assert absent.returncode == 0, absent.stdout + absent.stderr
    kernel = paths.places()["kernel"]
    if not SLOW:
        give(kernel, folder)
    done = stranger("run", folder, "./cellbed setup")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "set-up uses proot instead" in done.stderr
    shutil.copy(named_release(tmp_path), folder / HOME / "release.tar")
    runs_as_a_job(folder, here)
    done = stranger("run", folder, "tests/fresh/products")
    assert done.returncode == 0, done.stderr
    assert_same_products(done.stdout)
