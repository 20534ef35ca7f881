# SPDX-License-Identifier: GPL-2.0-only
"""kill -9 of a command whose trial runs in a sealed vm lab, at random moments of its time.

CELLBED_KILL_SEED repeats the moments of a run.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs.vm import QEMU, qemu
from harness.machine import clean
from tests.harness.campaign.test_killed import processes
from tests.small import PROJECT, write_tiny

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not (paths.places()["vm"] / "complete").exists() or shutil.which(QEMU) is None,
        reason="the vm lab is not set up: lab/setup --vm",
    ),
]
KILLS = 3
BOOT_LIMIT_S = 300.0
LONGEST_S = 15.0  # after the start of the emulator; the trial takes 20 s of processor time
GONE_S = 60.0


def emulated(folder: Path) -> bool:
    """Does QEMU run, and not only say its version?"""
    begin = os.fsencode(f"{qemu()}\0-accel\0")
    return any(line.startswith(begin) for line in processes(folder).values())


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A command that runs one trial, with a temporary directory of its own."""
    (folder / "tmp").mkdir(parents=True)
    words = ["run", str(write_tiny(folder)), "--lab", "vm", "--out", str(folder / "out")]
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(folder / "tmp")},
    )  # fmt: skip


def nothing_runs(folder: Path) -> None:
    """Within a time."""
    end = time.monotonic() + GONE_S
    while left := processes(folder):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def test_a_kill_while_it_runs_leaves_the_campaigns_folder_and_nothing_else(tmp_path: Path) -> None:
    seed = int(os.environ.get("CELLBED_KILL_SEED", random.randrange(10**6)))
    print(f"CELLBED_KILL_SEED={seed}")
    chance = random.Random(seed)
    for number in range(KILLS):
        folder, moment_s = tmp_path / str(number), chance.uniform(0.0, LONGEST_S)
        with start(folder) as command:
            end = time.monotonic() + BOOT_LIMIT_S
            while not emulated(folder):
                assert command.poll() is None and time.monotonic() < end
                time.sleep(0.01)
            with contextlib.suppress(subprocess.TimeoutExpired):
                command.wait(moment_s)
            command.kill()
        nothing_runs(folder)
        assert {path.name for path in folder.iterdir()} <= {"out", "tmp", "tiny.toml"}
        assert not list((folder / "tmp").iterdir()), f"at {moment_s:.2f} s"


def test_a_kill_before_it_runs_leaves_what_clean_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the lab's folder is filled; the file as large as the image has no name."""
    folder = tmp_path / "early"
    with start(folder) as command:
        end = time.monotonic() + BOOT_LIMIT_S
        while not list((folder / "tmp").glob("cellbed-lab.*/host")):
            assert command.poll() is None and time.monotonic() < end
            time.sleep(0.001)
        command.kill()
    nothing_runs(folder)
    left = list((folder / "tmp").rglob("*"))
    assert sum(path.lstat().st_size for path in left) < 50e6, left
    monkeypatch.setattr("tempfile.tempdir", str(folder / "tmp"))
    assert not clean.remove_leftovers().stayed and not list((folder / "tmp").iterdir())
