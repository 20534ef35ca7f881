# SPDX-License-Identifier: GPL-2.0-only
"""A lab's memory is where programs can be run from and where there is room, or a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.host import memory, paths
from harness.machine import doctor
from plan.errors import MissingError
from tests.small import PROJECT, TINY

NAMESPACE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
SHM = {
    "noexec": ("size=4g,noexec", "/dev/shm: mounted noexec"),
    "64 MiB": ("size=64m", "/dev/shm: 64 MiB free"),
}
ASK = (
    "from harness.host import memory, paths\n"
    "print(paths.memory_directory(), memory.place().passed, sep='|')"
)


def with_shm(options: str, *argv: object, cwd: Path = PROJECT) -> str:
    """What a command prints where /dev/shm is as a container has it."""
    script = f'mount -t tmpfs -o {options} shm /dev/shm && exec "$@"'
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", script, "-", *map(str, argv)], cwd=cwd, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def no_tmpdir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)


@pytest.mark.parametrize("shm", SHM)
def test_a_containers_shm_is_passed_over(shm: str) -> None:
    options, why = SHM[shm]
    place, passed = with_shm(options, sys.executable, "-c", ASK).strip().split("|")
    assert place in ("/tmp", "/var/tmp") and passed.startswith(why)


@pytest.mark.lab
@pytest.mark.parametrize("shm", SHM)
def test_a_trial_in_a_container(tmp_path: Path, shm: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    said = with_shm(SHM[shm][0], PROJECT / "cellbed", "run", "tiny.toml", cwd=tmp_path)
    assert " ok" in said


def test_tmpdir_is_taken_where_it_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert paths.memory_directory() == tmp_path
    assert "TMPDIR names it" in doctor.shared_memory().detail


def test_a_tmpdir_that_does_not_do_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(MissingError, match="none: No such file .*; set TMPDIR to another folder"):
        paths.memory_directory()
    found = doctor.shared_memory()
    assert found.state == "missing" and "No such file" in found.detail


@pytest.mark.usefixtures("no_tmpdir")
def test_the_first_with_room_then_the_one_with_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = {"a": 64, "b": 300, "c": 2048, "d": 9999}
    monkeypatch.setattr(
        memory, "looked_at",
        lambda path: memory.Place(path=path, free_mib=free[path.name],
                                  unfit="cannot be written" if path.name == "d" else ""),
    )  # fmt: skip
    found = memory.place([Path(name) for name in "dabc"])
    assert (found.path, found.passed) == (
        Path("c"), "d: cannot be written; a: 64 MiB free; b: 300 MiB free"
    )  # fmt: skip
    found = memory.place([Path(name) for name in "dab"])
    assert (found.path.name, found.fault) == ("b", "300 MiB free")


@pytest.mark.usefixtures("no_tmpdir")
def test_doctor_names_place_and_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    place = memory.Place(path=Path("/tmp"), free_mib=5000, passed="/dev/shm: 64 MiB free")
    monkeypatch.setattr(memory, "place", lambda: place)
    found = doctor.shared_memory()
    assert found.state == "ok"
    assert found.detail == "5000 MiB free at /tmp (/dev/shm: 64 MiB free)"
