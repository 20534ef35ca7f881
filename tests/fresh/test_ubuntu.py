# SPDX-License-Identifier: GPL-2.0-only
"""Where a user makes a namespace and has no rights in it, as on Ubuntu 24.04, all runs without one.

tests/fresh/stranger imitates the other way, where no namespace can be made.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT, TINY

SOURCE = Path(__file__).with_name("ubuntu.c")
LIMIT_S = 300
# An ordinary user, and a file that no file of this machine's has to make room for.
MOUNT = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
USER = 'MAPS=1 exec unshare --user --map-user=1000 --map-group=1000 env -u MAPS "$@"'
SCRIPT = f'mount -t overlay -o "lowerdir=$0:/etc" etc /etc && {USER}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("ubuntu"))


def filled(made: Path) -> Path:
    """What /etc has besides: the library that refuses, and the loader's order to take it."""
    library = made / "ubuntu.so"
    argv = ["gcc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(argv, check=True, timeout=LIMIT_S)
    (made / "ld.so.preload").write_text(f"{library}\n")
    return made


def run(
    folder: Path, *words: object, cwd: Path, limit_s: int = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """A command of an ordinary user there."""
    argv = [*MOUNT, "sh", "-c", SCRIPT, str(folder), *map(str, words)]
    return subprocess.run(
        argv, cwd=cwd, capture_output=True, text=True, timeout=limit_s, check=False
    )


def test_a_namespace_can_be_made_and_nobody_mapped(folder: Path, tmp_path: Path) -> None:
    """The library does what it says."""
    assert run(folder, "unshare", "--user", "true", cwd=tmp_path).returncode == 0
    done = run(folder, "unshare", "--user", "--map-root-user", "true", cwd=tmp_path)
    assert done.returncode != 0 and "Permission denied" in done.stderr


def test_set_up_uses_proot(folder: Path, tmp_path: Path) -> None:
    done = run(folder, PROJECT / "lab/root/enter", "--how", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("proot\n", 0), done.stderr


@pytest.mark.lab
def test_a_trial_runs_and_a_line_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    done = run(folder, PROJECT / "cellbed", "run", "tiny.toml", cwd=tmp_path)
    assert done.returncode == 0 and " ok" in done.stdout, done.stdout + done.stderr
    assert "no boundary can be made around the uml lab here" in done.stderr
    assert "Permission denied" in done.stderr
