# SPDX-License-Identifier: GPL-2.0-only
"""Precompiled headers serve the builds that have their options, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.kernels import headers


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "lab/kernel").mkdir(parents=True)
    for name in headers.CONFIG:
        (tmp_path / name).write_text("CONFIG_NET=y\n")
    return tmp_path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder after a build."""
    folder = tmp_path / "work"
    built(folder)
    return folder


def built(work: Path) -> None:
    for name in ("headers/all.h.gch/2", "build/init/precompiled.o", "build/net/core/dev.o"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).touch()


def left(work: Path) -> list[bool]:
    return [(work / name).exists() for name in headers.COMPILED]


def test_another_tree_with_the_same_options_keeps_them(work: Path, recipe: Path) -> None:
    headers.renew(work, recipe, ["CONFIG_HZ=250", "CONFIG_IKCONFIG=y"])
    built(work)
    assert not headers.renew(work, recipe, ["CONFIG_IKCONFIG=y", "CONFIG_HZ=250"])
    assert left(work) == [True, True]


def test_of_a_folder_without_a_note_nobody_knows_the_options(work: Path, recipe: Path) -> None:
    assert headers.renew(work, recipe, [])
    assert left(work) == [False, False] and (work / "build/net/core/dev.o").exists()


@pytest.mark.parametrize("then", [[], ["CONFIG_IKCONFIG=n"], ["CONFIG_IKCONFIG=y", "CONFIG_NET=n"]])
def test_other_options_renew_them(work: Path, recipe: Path, then: list[str]) -> None:
    headers.renew(work, recipe, ["CONFIG_IKCONFIG=y"])
    built(work)
    assert headers.renew(work, recipe, then)
    assert left(work) == [False, False]


def test_another_recipe_renews_them(work: Path, recipe: Path) -> None:
    headers.renew(work, recipe, [])
    built(work)
    (recipe / headers.CONFIG[0]).write_text("CONFIG_NET=y\nCONFIG_IKCONFIG=y\n")
    assert headers.renew(work, recipe, [])


def test_a_build_that_was_killed_is_no_excuse(work: Path, recipe: Path) -> None:
    """It had begun with other options, and may have compiled the headers for them."""
    headers.renew(work, recipe, [])
    built(work)
    headers.renew(work, recipe, ["CONFIG_IKCONFIG=y"])
    built(work)
    assert headers.renew(work, recipe, [])
