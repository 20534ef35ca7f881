# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of a whole campaign in the middle; running it again gives what it would have given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small import PROJECT, write_tiny

from harness import clean
from harness.errors import MissingError
from harness.paths import image, kernel, programs

pytestmark = pytest.mark.lab
SEEDS = 5
WAIT_S = 300.0


def start(experiment: Path, folder: Path) -> subprocess.Popen[str]:
    """`cellbed run` in the background."""
    words = ["run", experiment, "--seeds", SEEDS, "--jobs", 2, "--out", folder / "out"]
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(folder / "tmp")},
        # Whoever runs the tests in the background has SIGINT ignored, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def whole(folder: Path) -> dict[str, int]:
    """Records under their names, with the file system's number of each."""
    records = folder / "out" / "trials"
    return {p.parent.name: p.parent.stat().st_ino for p in records.glob("[!.]*/trial.json")}


def flows(folder: Path) -> dict[str, bytes]:
    """What each trial's connections did."""
    return {name: (folder / "out" / "trials" / name / "flows.csv").read_bytes()
            for name in whole(folder)}  # fmt: skip


def wait_for_records(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    end = time.monotonic() + WAIT_S
    while len(whole(folder)) < count:
        assert process.poll() is None and time.monotonic() < end, "the campaign does not go on"
        time.sleep(0.01)


@pytest.fixture(autouse=True, scope="module")
def lab() -> None:
    try:
        for product in (image, kernel, programs):
            product()
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(write_tiny(folder), folder)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said
    return flows(folder)


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C keeps what is whole and leaves no lab and no temporary file."""
    process = start(write_tiny(tmp_path), tmp_path)
    wait_for_records(process, tmp_path, 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "cellbed: interrupted; finished trials are kept"
    assert 1 <= len(whole(tmp_path)) < SEEDS
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("records", [0, 2])
def test_killed_and_run_again(tmp_path: Path, undisturbed: dict[str, bytes], records: int) -> None:
    """Killed before the first record, and in the middle."""
    experiment = write_tiny(tmp_path)
    process = start(experiment, tmp_path)
    wait_for_records(process, tmp_path, records)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = whole(tmp_path)
    again = start(experiment, tmp_path)
    _, said = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, said
    after = whole(tmp_path)
    assert flows(tmp_path) == undisturbed and len(after) == SEEDS
    assert kept.items() <= after.items(), "a trial that was done has been run again"
    assert {path.name for path in (tmp_path / "out" / "trials").iterdir()} == set(after)
    assert not (tmp_path / "out" / "failures.jsonl").exists()
    for left in (tmp_path / "tmp").iterdir():
        assert left in clean.ownerless(tmp_path / "tmp") and not list(clean.processes(left))
