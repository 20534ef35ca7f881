# SPDX-License-Identifier: GPL-2.0-only
"""./cellbed release: what it prints of the recipe's archive, and of a recipe that fails."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.group import cellbed
from harness.host import paths
from plan.errors import MissingError, UsageError


def release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, out: str, *options: str
) -> Result:
    """Of a project whose recipe is a script."""
    recipe = tmp_path / "lab/release/build"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(f"#!/bin/sh\n{script}\n")
    recipe.chmod(0o755)
    monkeypatch.setattr(paths, "PROJECT", tmp_path)
    return CliRunner().invoke(cellbed, ["release", "--out", str(tmp_path / out), *options])


def test_it_names_the_archive_with_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = release(tmp_path, monkeypatch, 'echo content > "$1/a.tar"; echo "$1/a.tar"', "out/new")
    digest = hashlib.sha256(b"content\n").hexdigest()
    assert done.output == f"{tmp_path}/out/new/a.tar: 0 MB, SHA-256 {digest}\n"


def test_a_recipe_that_misses_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = release(tmp_path, monkeypatch, "exit 3", "out")
    assert isinstance(done.exception, MissingError)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").touch()
    done = release(tmp_path, monkeypatch, "exit 0", "out")
    assert isinstance(done.exception, UsageError) and "is not a folder" in str(done.exception)


@pytest.mark.parametrize(
    ("options", "arch"), [((), "x86-64"), (("--arch", "arm64"), "arm64")], ids=["none", "arm64"]
)
def test_the_recipe_is_told_the_processor(
    options: tuple[str, ...], arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'echo "$2" > "$1/told"; touch "$1/a.tar"; echo "$1/a.tar"'
    done = release(tmp_path, monkeypatch, script, "out", *options)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "told").read_text() == f"{arch}\n"
