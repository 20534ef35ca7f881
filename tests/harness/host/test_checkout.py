# SPDX-License-Identifier: GPL-2.0-only
"""The project's own files: nothing that a person has beside them, such as a token."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host import checkout
from plan.errors import MissingError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("cellbed", ".gitignore", ".github/page.md", ".netrc", ".venv/x", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(checkout, "PROJECT", tmp_path)
    return tmp_path


def test_a_checkout_that_git_refuses_has_no_list(project: Path) -> None:
    with pytest.raises(MissingError, match=f"git cannot list the files of {project}: fatal: not"):
        checkout.files()


def test_a_checkout_without_git_has_no_list(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(MissingError, match=f"git cannot list the files of {project}: .*'git'"):
        checkout.files()


def test_a_package_has_no_hidden_file_of_a_person(project: Path) -> None:
    (project / ".git/config").unlink()
    (project / ".git").rmdir()
    assert checkout.files() == [".github/page.md", ".gitignore", "cellbed"]
