# SPDX-License-Identifier: GPL-2.0-only
"""lab/ci/experiment/run: a release that is downloaded once, and the table of an experiment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.host import paths
from harness.records.seal import checksum
from tests.fresh.releases import named_release
from tests.small import PROJECT, write_tiny

ACTION = PROJECT / "lab/ci/experiment/action.yml"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with the names of this machine's products. set-up finds these in the cache."""
    return named_release(tmp_path_factory.mktemp("release"))


def run(
    folder: Path, release: Path | str, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the script as a step of a job, in the user's checkout."""
    script = PROJECT / "lab/ci/experiment/run"
    argv = [script, str(release), str(write_tiny(folder)), "out", *options]
    cache = str(paths.places()["cache"])
    told = {"PATH": os.environ["PATH"], "HOME": str(folder), "CELLBED_CACHE": cache}
    return subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**told, "RELEASE_KEPT": str(folder / "kept"), **environment},
    )  # fmt: skip


@pytest.mark.lab
def test_it_downloads_once_and_writes_a_table(release: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a.tar"
    copy.write_bytes(release.read_bytes())
    for left in (copy, None):
        done = run(tmp_path, copy.as_uri(), "--jobs", "1", RELEASE_SHA256=checksum(release))
        assert done.returncode == 0, done.stderr
        summary = (tmp_path / "out" / "summary.md").read_text()
        assert summary.startswith("## cellbed: tiny.toml\n\n```\n") and " ok" in summary
        assert done.stdout.strip() in summary
        copy.unlink(missing_ok=left is None)
    assert sorted(os.listdir(tmp_path / "out")) == ["campaign", "summary.md"]
    assert len(list((tmp_path / "out" / "campaign" / "trials").iterdir())) == 1


def test_another_file_is_refused_and_not_kept(release: Path, tmp_path: Path) -> None:
    done = run(tmp_path, release.as_uri(), RELEASE_SHA256="0" * 64)
    assert done.returncode == 3
    assert f"checksum {checksum(release)}, and not {'0' * 64}" in done.stderr
    assert not (tmp_path / "kept" / "release.tar").exists() and not (tmp_path / "out").exists()


def test_an_address_that_has_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, (tmp_path / "absent.tar").as_uri())
    assert done.returncode == 3 and "absent.tar cannot be downloaded: " in done.stderr
    assert not (tmp_path / "kept" / "release.tar").exists()


def test_a_run_that_fails_ends_with_its_status(release: Path, tmp_path: Path) -> None:
    done = run(tmp_path, release, "--only", "flavor=absent")
    assert done.returncode == 2, done.stderr
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "The command ended with status 2. Its log says why." in summary


def test_no_input_of_the_action_is_part_of_a_command() -> None:
    """Else an experiment's name could be a command."""
    lines = ACTION.read_text().splitlines()
    assert [line for line in lines if line.strip().startswith("run:")]
    for line in lines:
        assert not ("run:" in line and "${{" in line), line
