# SPDX-License-Identifier: GPL-2.0-only
"""Under sudo the campaign is the caller's, also when it failed; else nothing is changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.ownership import of_the_caller


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, int]]:
    """Who was given what, instead of giving it."""
    owners: dict[str, tuple[int, int]] = {}

    def chown(path: Path, uid: int, gid: int, *, follow_symlinks: bool) -> None:
        owners[path.name] = (uid, gid)

    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("SUDO_UID", raising=False)
    return owners


def write(folder: Path) -> None:
    (folder / "trials").mkdir(parents=True)
    (folder / "trials" / "trial.json").touch()


def test_all_that_is_new_is_the_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, tuple[int, int]]
) -> None:
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    with pytest.raises(KeyboardInterrupt), of_the_caller(tmp_path / "results" / "mine"):
        write(tmp_path / "results" / "mine")
        raise KeyboardInterrupt
    assert given == dict.fromkeys(("results", "mine", "trials", "trial.json"), (1000, 1001))


def test_without_sudo_nothing_changes(
    tmp_path: Path, given: dict[str, tuple[int, int]]
) -> None:
    with of_the_caller(tmp_path / "mine"):
        write(tmp_path / "mine")
    assert not given
