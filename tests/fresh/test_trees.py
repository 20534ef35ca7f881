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
