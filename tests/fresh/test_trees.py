# SPDX-License-Identifier: GPL-2.0-only
"""A fresh machine that was set up is good for as long as nothing changes that set-up reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fresh import trees
from tests.small import PROJECT


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that set-up reads."""
    folder = tmp_path_factory.mktemp("copy")
    for recipe in trees.RECIPES:
        source, target = PROJECT / recipe, folder / recipe
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
    return folder


@pytest.mark.parametrize(
    "path",
    ["lab/setup", "lab/paths", "lab/kernel/config", "lab/host-packages", "lab/requirements.txt",
     "lab/requirements-test.txt",
     "bpf/cellq.bpf.c", "workload/www/programs/http.c", "tcp-configs/module/cellbed_rto.c",
     "topology/nsfarm.c", "Makefile", "cellbed", "tests/fresh/debian"],
)  # fmt: skip
def test_a_changed_recipe_wants_another_machine(copy: Path, path: str) -> None:
    before = trees.key(copy)
    with (copy / path).open("a") as stream:
        stream.write("\n")
    assert trees.key(copy) != before


@pytest.mark.parametrize("folder", trees.LEFT_OUT)
def test_what_is_no_recipe_wants_none(copy: Path, folder: str) -> None:
    before = trees.key(copy)
    path = next(path for path in sorted((copy / folder).rglob("*")) if path.is_file())
    with path.open("a") as stream:
        stream.write("\n")
    assert trees.key(copy) == before


@pytest.mark.parametrize("folder", trees.LEFT_OUT)
def test_set_up_from_source_names_none_of_it(folder: str) -> None:
    """But for a release, which has its own functions in lab/setup."""
    recipes = [PROJECT / "lab" / name for name in ("paths", "strict", "test-packages")]
    for name in ("image", "kernel", "native", "programs", "root", "vm"):
        recipes += [path for path in (PROJECT / "lab" / name).rglob("*") if path.is_file()]
    lines = [line for path in recipes for line in path.read_bytes().splitlines()]
    code = [line.split(b"#")[0] for line in lines]
    assert not [line for line in code if f"{folder}/".encode() in line]
