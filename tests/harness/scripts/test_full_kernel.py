# SPDX-License-Identifier: GPL-2.0-only
"""The recipe of the kernel for Mininet scripts: the experiments' kernel's, and more. No lab."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.small import PROJECT

SET_UP = '#!/bin/sh -e\ncp -r "$(dirname "$0")" "$1"\n'  # what it was to build from


def options(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    return [line.partition("=")[0] for line in lines if line and not line.startswith("#")]


def contents(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_it_adds_to_the_recipe_of_the_experiments_kernel_and_leaves_that(tmp_path: Path) -> None:
    project, out = tmp_path / "project", tmp_path / "out"
    shutil.copytree(PROJECT / "lab/kernel", project / "lab/kernel")
    shutil.copytree(PROJECT / "lab/mininet/kernel", project / "lab/mininet/kernel")
    shutil.copy(PROJECT / "lab/strict", project / "lab")
    (project / "lab/kernel/set-up").write_text(SET_UP)
    ours, added = contents(project / "lab/kernel"), contents(project / "lab/mininet/kernel")
    done = subprocess.run(
        [project / "lab/mininet/kernel/build", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert contents(project / "lab/kernel") == ours
    built = contents(out)
    for name in (Path("config"), Path("parts")):
        assert built.pop(name) == ours.pop(name) + added.pop(name)
    del added[Path("build")]
    assert built == ours | added
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "project"]


def test_no_option_is_set_twice() -> None:
    """Kconfig would take the last, and the build refuse the first."""
    small, added = (
        options(PROJECT / f"lab/{name}/config") for name in ("kernel", "mininet/kernel")
    )
    assert len(added) > 400
    assert len({*small, *added}) == len(small) + len(added)
