# SPDX-License-Identifier: GPL-2.0-only
"""What killed runs left is ended and removed; what is another's or alive is not touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.group import cellbed
from harness.host import owner, paths, temporary
from harness.labs import native
from harness.machine import clean
from plan.errors import MissingError
from tests.small import PROJECT

# A process of this number and start cannot be: numbers end below.
GONE = f"{2**22 + 1}-1"
WHAT = ("lab", "again", "watch", "patches")


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory and a module's mark that no other program uses."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path / "cache"})
    monkeypatch.setattr(native, "MODULE_MARK", tmp_path / "mark")
    monkeypatch.setattr(native, "MODULE_STATE", tmp_path / "loaded")
    return place


def left_folder(place: Path, owner_name: str = GONE, what: str = "lab") -> Path:
    folder = place / f"cellbed-{what}.{owner_name}.abc_1234"
    folder.mkdir()
    return folder


@pytest.fixture
def left_process(own_place: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A lab whose owner is gone, and a process of it that nobody ended."""
    folder = left_folder(own_place)
    environment = {**os.environ, "HOME": str(folder)}
    process = subprocess.Popen(["sleep", "600"], env=environment, cwd=folder)
    yield folder, process
    process.kill()
    process.wait()


@pytest.mark.parametrize("what", WHAT)
def test_a_live_owner_keeps_its_folder(own_place: Path, what: str) -> None:
    with temporary.folder(what) as folder:
        assert temporary.NAME.fullmatch(folder.name) and folder.parent == own_place
        assert clean.remove_leftovers() == clean.Leftovers()
        assert folder.is_dir()
    assert not folder.exists()


def test_a_process_number_that_came_back_is_another_process(own_place: Path) -> None:
    pid, _, start = owner.this_process().partition("-")
    folder = left_folder(own_place, f"{pid}-{int(start) - 1}")
    assert clean.remove_leftovers().removed == [str(folder)]


def test_processes_end_before_their_folder_goes(
    left_process: tuple[Path, subprocess.Popen[bytes]],
) -> None:
    folder, process = left_process
    assert clean.remove_leftovers().removed == [str(folder)]
    assert process.wait(timeout=10) == -signal.SIGKILL
    assert not folder.exists()


def test_a_person_who_looks_at_a_folder_is_not_ended(own_place: Path) -> None:
    looking = subprocess.Popen(["sleep", "600"], cwd=left_folder(own_place))
    try:
        assert clean.remove_leftovers().removed
        assert looking.poll() is None
    finally:
        looking.kill()
        looking.wait()


def fill_with_oddities(folder: Path) -> None:
    """All that reading a lab folder could stumble over."""
    os.mkfifo(folder / "owner")
    (folder / "put-in-module").mkdir()
    (folder / "inbox").symlink_to("/")
    (folder / "events.jsonl").symlink_to(folder / "events.jsonl")
    (folder / "host").write_bytes(b"\xff\0")


def test_odd_contents_are_removed_unread(own_place: Path) -> None:
    folder = left_folder(own_place)
    fill_with_oddities(folder)
    os.mkfifo(own_place / f"cellbed-lab.{GONE}.fifo")
    (own_place / f"cellbed-lab.{GONE}.link").symlink_to(Path.home())
    (own_place / "cellbed-lab.mine").mkdir()
    (own_place / "cellbed-lab.1-x.mine").mkdir()
    begin = time.monotonic()
    assert clean.remove_leftovers() == clean.Leftovers(removed=[str(folder)])
    assert time.monotonic() - begin < 10
    assert len(list(own_place.iterdir())) == 4


def test_folders_of_others_are_theirs(
    left_process: tuple[Path, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, process = left_process
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert clean.remove_leftovers() == clean.Leftovers()
    assert folder.is_dir() and process.poll() is None


def test_what_could_not_be_removed_is_told(
    own_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = left_folder(own_place), left_folder(own_place, GONE + "1")
    remove = temporary.remove

    def stand_in(path: Path) -> None:
        if path == first:
            raise PermissionError(13, "Permission denied", str(path / "results"))
        remove(path)

    monkeypatch.setattr(temporary, "remove", stand_in)
    done = CliRunner().invoke(cellbed, ["clean"])
    assert done.output == f"removed {second}\n"
    assert str(done.exception).startswith(f"these could not be removed: {first}: ")
    assert "Permission denied" in str(done.exception)


def rmmod(monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    """Stand in for rmmod, which takes the module out or says that it is in use."""

    def stand_in(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert argv == ["/usr/sbin/rmmod", "cellbed_tcp"]
        if works:
            native.MODULE_STATE.rmdir()
        said = "" if works else "rmmod: ERROR: Module cellbed_tcp is in use\n"
        return subprocess.CompletedProcess(argv, int(not works), "", said)

    monkeypatch.setattr(subprocess, "run", stand_in)
    monkeypatch.setattr(native, "TAKE_OUT_S", 0.3)
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_a_module_in_use_stays_known_until_it_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    native.MODULE_STATE.mkdir()
    native.MODULE_MARK.write_text(GONE)
    rmmod(monkeypatch, works=False)
    [stayed] = clean.remove_leftovers().stayed
    assert stayed.endswith("Module cellbed_tcp is in use") and native.MODULE_MARK.exists()
    rmmod(monkeypatch, works=True)
    assert clean.remove_leftovers().removed == ["module cellbed_tcp"]
    assert not native.MODULE_MARK.exists() and not native.MODULE_STATE.exists()


def test_a_live_lab_keeps_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    rmmod(monkeypatch, works=True)
    with subprocess.Popen(["sleep", "600"]) as other:
        native.MODULE_MARK.write_text(f"{other.pid}-{owner.start_time(other.pid)}")
        with pytest.raises(MissingError, match="another native lab"):
            native.claim_module()
        assert clean.remove_leftovers() == clean.Leftovers()
        other.kill()
    native.claim_module()
    assert native.MODULE_MARK.read_text() == owner.this_process()


def test_only_root_takes_out_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    native.MODULE_MARK.write_text("garbage")
    assert not owner.alive("garbage") and not owner.alive("1-") and not owner.alive("")
    uid = os.getuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert clean.remove_leftovers() == clean.Leftovers()


@pytest.mark.parametrize("what", WHAT)
def test_a_killed_owner_leaves_a_folder_that_is_found(own_place: Path, what: str) -> None:
    """However early it is killed: the folder's name says whose it is from the beginning."""
    script = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from harness.host import temporary\n"
        f"with temporary.folder({what!r}) as folder: print(folder, flush=True); input()"
    )
    argv = [sys.executable, "-c", script, str(own_place)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        folder = killed.stdout.readline().strip()
        assert clean.remove_leftovers() == clean.Leftovers()
        killed.kill()
    assert clean.remove_leftovers().removed == [folder]


# What making a box needs; the first that is called kills the script, as a person would.
BOX_PROGRAMS = {"mmdebstrap": "kill -9 $PPID", "mke2fs": "", "sfdisk": "", "qemu-img": ""}


def test_what_a_killed_recipe_leaves_is_found(tmp_path: Path, own_place: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in BOX_PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(own_place)}
    argv = [PROJECT / "lab" / "vagrant" / "box", tmp_path / "debian.box"]
    assert subprocess.run(argv, env=environment, check=False).returncode == -signal.SIGKILL
    [left] = own_place.glob("cellbed-box.*")
    assert clean.remove_leftovers().removed == [str(left)]


def test_a_running_recipe_keeps_what_it_makes(own_place: Path) -> None:
    script = '. "$1"/lab/strict; mktemp -t "cellbed-packages.$(owner).XXXXXX"; read -r _'
    argv = ["bash", "-c", script, "-", str(PROJECT)]
    environment = {**os.environ, "TMPDIR": str(own_place)}
    with subprocess.Popen(
        argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        log = running.stdout.readline().strip()
        assert clean.remove_leftovers() == clean.Leftovers() and Path(log).is_file()
        running.kill()
    assert clean.remove_leftovers().removed == [log]
