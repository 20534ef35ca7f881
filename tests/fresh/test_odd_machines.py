# SPDX-License-Identifier: GPL-2.0-only
"""Folders and surroundings that a set-up could stumble over after minutes: told at once."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from harness.host import checkout
from harness.scripts import host
from tests.fresh import machine
from tests.fresh.machine import Machine
from tests.fresh.test_sentences import sentence


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    return machine.make(tmp_path)


def test_a_cache_below_a_colon(here: Machine) -> None:
    done = here.run("cellbed", "setup", CELLBED_CACHE=str(here.cache / "a:b"))
    assert "has a colon, and Python cannot import from such a path" in sentence(done)
    assert not here.cache.exists() and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["my cache", "tab\there"])
def test_a_cache_below_a_blank(here: Machine, name: str) -> None:
    """The kernel is built in the build root, where the cache has another name."""
    done = here.run("cellbed", "setup", CELLBED_CACHE=str(here.cache / name))
    assert done.returncode == 0, done.stderr


def moved(here: Machine, name: str) -> Machine:
    """The same machine with its project in another folder."""
    here.project.rename(here.project.with_name(name))
    return Machine(here.project.with_name(name), here.commands, here.cache)


def test_a_path_of_cd(here: Machine) -> None:
    """With CDPATH, cd prints where it went."""
    done = subprocess.run(  # type: ignore[call-overload]
        **{**here.argv_of("lab/setup"), "args": ["lab/setup"], "cwd": here.project,
           "env": {**here.argv_of("lab/setup")["env"], "CDPATH": f".:{here.project}"}},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_cache_with_a_line_break(here: Machine) -> None:
    here.cache = here.cache / "a\nb"
    assert "has a line break in it" in here.run("cellbed", "setup").stderr


def test_a_project_below_a_colon(here: Machine) -> None:
    done = moved(here, "a:b").run("cellbed", "setup")
    assert "a:b has a colon, and Python cannot import from such a path" in sentence(done)


def test_a_project_below_a_blank_has_no_vm_lab(here: Machine) -> None:
    blank = moved(here, "my project")
    assert blank.run("cellbed", "setup").returncode == 0
    assert "my project has a blank, and the vm lab cannot be built" in sentence(
        blank.run("cellbed", "setup", "--vm")
    )


def test_messages_are_read_in_english(here: Machine) -> None:
    """Else what a log says of a full disk would not be known for it."""
    said = 'case "${LC_ALL-}${LANGUAGE-}" in C) echo No space left on device ;; *) echo Kein Platz'
    here.recipe("lab/kernel/set-up", f"{said} ;; esac; exit 1")
    done = here.run("cellbed", "setup", LC_ALL="", LANG="de_DE.UTF-8", LANGUAGE="de")
    # Another step may end beside it, and say so after it.
    assert done.returncode == 3
    assert "lab kernel failed: the disk is full" in done.stderr


@pytest.mark.parametrize("given", ["yes", "no"])
def test_a_cache_that_sudo_dropped_is_told(here: Machine, given: str) -> None:
    """The environment of sudo itself still has it."""
    inner = ["env", "-u", "CELLBED_CACHE", "SUDO_USER=somebody",
             *(["CELLBED_CACHE=/elsewhere"] if given == "yes" else []),
             str(here.project / "cellbed"), "flavors"]  # fmt: skip
    argv = here.argv_of("cellbed")
    argv["args"] = ["bash", "-c", f"{shlex.join(inner)}; exit $?"]
    done = subprocess.run(**argv, capture_output=True, text=True, timeout=60, check=False)  # type: ignore[call-overload]
    told = f"sudo dropped CELLBED_CACHE; run sudo CELLBED_CACHE={here.cache} " in done.stderr
    assert told == (given == "no"), done.stderr


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("names", ["above", "by the environment"])
def test_another_repository_names_no_commit_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    """Unpacked inside of one, or called by one's hook."""
    outer, inner = tmp_path, tmp_path / "cellbed"
    inner.mkdir()
    git(outer, "init", "-q")
    git(outer, "commit", "-q", "--allow-empty", "-m", "x")
    if names == "by the environment":
        monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setattr(checkout, "PROJECT", inner)
    assert checkout.commit() == ""
    monkeypatch.setattr(checkout, "PROJECT", outer)
    assert len(checkout.commit()) >= 7


def test_what_a_script_wrote_under_sudo_is_its_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: set[str] = set()

    def place(descriptor: int) -> str:
        return os.readlink(f"/proc/self/fd/{descriptor}")

    def chown(name: str, *owner: int, dir_fd: int, follow_symlinks: bool) -> None:
        assert not follow_symlinks and "/" not in name and owner == (1000, 1001)
        given.add(f"{place(dir_fd)}/{name}")

    results = tmp_path / "run" / "results" / host.KEPT[0]
    (results / "a" / "b").mkdir(parents=True)
    (results / "a" / "b" / "x").touch()
    (results / "link").symlink_to("/etc/passwd")
    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "fchown", lambda fd, *_: given.add(place(fd)))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    lab = type("Lab", (), {"run_directory": tmp_path / "run"})
    host.keep(lab, tmp_path / "out", most_mib=1)  # type: ignore[arg-type]
    out = tmp_path / "out"
    assert given == {str(out), *map(str, out.rglob("*"))}
    assert (out / host.KEPT[0] / "link").is_symlink()
