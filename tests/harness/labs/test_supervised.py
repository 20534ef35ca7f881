# SPDX-License-Identifier: GPL-2.0-only
"""The owner's end of a lab that is a process tree; here the lab is a program that waits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.host import temporary
from harness.labs import supervised
from harness.labs.base import LabSpec
from harness.labs.supervised import SupervisedLab
from tests.small import PROJECT

GONE_S = 30.0
# A process that is killed with a lab in a temporary folder, or in one below it.
OWNER = """
import os, sys
from pathlib import Path
from harness.host import temporary
from harness.labs.base import LabSpec
from tests.harness.labs.test_supervised import Waiting
with temporary.folder("lab") as folder:
    place = folder / sys.argv[1]
    place.mkdir(exist_ok=True)
    with Waiting(LabSpec(pairs=1), place):
        print(folder, flush=True)
        sys.stdin.read()
"""


class Waiting(SupervisedLab):
    """A lab without a kernel."""

    def argv(self) -> list[str]:
        return ["/bin/sleep", "600"]


class Computing(SupervisedLab):
    """A lab without a kernel that computes and ends."""

    def argv(self) -> list[str]:
        return ["/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"]


def test_a_lab_that_has_ended_has_used_what_it_used(tmp_path: Path) -> None:
    """Its processes are gone when the end of its trial is read."""
    with Computing(LabSpec(pairs=1), tmp_path) as lab:
        while lab.poll() is None:
            time.sleep(0.01)
        assert lab.cpu_s() > 0.05
        assert lab.cpu_s() == lab.cpu_s() and lab.processes() == 0


def test_the_ticks_of_a_child_that_ends_meanwhile_count_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ids begin again at a small number, so a child's can be below its parent's."""
    child, parent = (10, 20, 30), (20, 1, 35)  # the parent's include those of the ended child
    readings = iter([[child, parent], [parent]])
    monkeypatch.setattr(supervised, "read_processes", lambda pids: iter(next(readings)))
    lab = Waiting(LabSpec(pairs=1), tmp_path)
    monkeypatch.setattr(lab, "_process", SimpleNamespace(pid=20, returncode=None))
    assert sum(lab.ticks().values()) == 35


def test_a_second_end_closes_nothing_of_others(tmp_path: Path) -> None:
    with Waiting(LabSpec(pairs=1), tmp_path) as lab:
        assert lab.poll() is None
        lab.kill()
        assert lab.poll() is not None
        others = [os.pipe() for _ in range(8)]  # they take the numbers that are free again
    for ends in others:
        for end in ends:
            os.close(end)  # OSError where somebody has closed it


def test_an_owner_that_ends_its_lab_keeps_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the lab has left is still to be read."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary.folder("lab") as folder, Waiting(LabSpec(pairs=1), folder) as lab:
        lab.kill()
        assert lab.poll() is not None
        assert (folder / "console.log").exists()


@pytest.mark.parametrize("below", ["", "senders"])
def test_of_an_owner_that_was_killed_nothing_stays(tmp_path: Path, below: str) -> None:
    """Neither the lab nor the folder; two labs on one link each have a folder below it."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, below], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    with owner:
        assert owner.stdout is not None and owner.stdout.readline().strip()
        assert len(list(tmp_path.iterdir())) == 1
        owner.kill()
    end = time.monotonic() + GONE_S
    while left := list(tmp_path.iterdir()):
        assert time.monotonic() < end, left
        time.sleep(0.05)
