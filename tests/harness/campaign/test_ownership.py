# SPDX-License-Identifier: GPL-2.0-only
"""Under sudo what a campaign writes is the caller's, and nothing else is; else nothing changes."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from harness.campaign import costs
from harness.campaign.campaign import CampaignRun
from harness.labs import LABS
from harness.records import record
from harness.runners.options import Options
from plan.errors import UsageError
from tests.paper import PaperLab, finish
from tests.small import small_trials

Given = dict[Path, tuple[int, int]]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """What was given to whom under the caller's sudo, instead of giving it."""
    owners: Given = {}

    def place(descriptor: int) -> Path:
        return Path(f"/proc/self/fd/{descriptor}").readlink()

    def chown(
        path: str | Path,
        uid: int,
        gid: int,
        *,
        dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        assert not follow_symlinks
        assert dir_fd is not None and "/" not in str(path), "by a path, which a link can turn"
        owners[place(dir_fd) / path] = (uid, gid)

    def fchown(descriptor: int, uid: int, gid: int) -> None:
        owners[place(descriptor)] = (uid, gid)

    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}
        tried: list[str] = []
        booted: list[Path] = []

    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "fchown", fchown)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(costs, "file", lambda: tmp_path / "costs.json")
    monkeypatch.setattr(record, "finish", finish)
    return owners


def campaign(folder: Path, experiment: Path, name: str = "small", seeds: int = 1) -> CampaignRun:
    trials = small_trials(experiment, seeds=seeds)
    return CampaignRun(folder, trials, {"name": name}, Options(lab="paper"))


def under(folder: Path) -> set[Path]:
    return {folder, *folder.rglob("*")}


def name_when_whole(path: Path) -> Path:
    """A name as it is in the end of what was given under another one."""
    names = (name.removeprefix(".").removesuffix(".partial") for name in path.parts)
    ours = f".{socket.gethostname()}.{os.getpid()}"
    return Path(*(name.removesuffix(ours) for name in names))


def test_all_that_is_written_is_the_callers(tmp_path: Path, given: Given) -> None:
    folder = tmp_path / "results" / "mine"
    wanted = campaign(folder, tmp_path)
    LABS["paper"].script[wanted.trials[0].name] = ["fail"]
    wanted.run()
    names = {path.name for path in under(folder)}
    assert {"campaign.json", "campaign.lock", "events.jsonl", "flows.csv"} <= names
    assert {name_when_whole(path) for path in given} == under(tmp_path / "results")
    assert set(given.values()) == {(1000, 1001)}


def test_what_was_there_stays_whose_it_was(tmp_path: Path, given: Given) -> None:
    folder = tmp_path / "mine"
    campaign(folder, tmp_path).run()
    (folder / "notes.txt").touch()
    before = under(folder)
    given.clear()
    campaign(folder, tmp_path, seeds=2).run()
    new = under(folder) - before
    assert len(new) >= 4 * 3  # the folder of a record and two files at least
    # campaign.json is made anew each time.
    assert {name_when_whole(path) for path in given} == new | {folder / "campaign.json"}


@pytest.mark.parametrize("why", ["another experiment's", "no campaign"])
def test_a_folder_that_is_refused_is_not_given(tmp_path: Path, given: Given, why: str) -> None:
    folder = tmp_path / "shared"
    if why == "no campaign":
        folder.mkdir()
        (folder / "of others").touch()
    else:
        campaign(folder, tmp_path, "other").run()
        given.clear()
    with pytest.raises(UsageError):
        campaign(folder, tmp_path).run()
    assert not given


@pytest.mark.parametrize("name", ["events.jsonl", "campaign.lock"])
def test_a_link_leads_nowhere(tmp_path: Path, given: Given, name: str) -> None:
    folder = tmp_path / "mine"
    wanted = campaign(folder, tmp_path, seeds=2)
    campaign(folder, tmp_path).run()
    others = tmp_path / "others.txt"
    others.write_text("theirs")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(others)
    given.clear()
    LABS["paper"].script[wanted.trials[-1].name] = ["fail"]
    with pytest.raises((OSError, UsageError), match=name):
        wanted.run()
    assert others.read_text() == "theirs" and others not in given


def test_without_sudo_nothing_changes(
    tmp_path: Path, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID")
    campaign(tmp_path / "mine", tmp_path).run()
    assert not given


def test_numbers_that_sudo_does_not_give_are_refused(
    tmp_path: Path, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "root")
    with pytest.raises(UsageError, match="SUDO_UID=root"):
        campaign(tmp_path / "mine", tmp_path).run()
