# SPDX-License-Identifier: GPL-2.0-only
"""The recipe of the Vagrant box, as far as it goes without making a box."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

# Stands in for mmdebstrap: notes what other users could change, and ends the recipe.
WRITABLE = """#!/bin/sh
find "$TMPDIR"/cellbed-box.* ! -type l -perm -o+w > "$TMPDIR/writable"
exit 1
"""


@pytest.mark.lab
def test_no_other_user_can_change_a_box_that_is_being_made(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("mmdebstrap", "mke2fs", "sfdisk", "qemu-img"):
        (programs / name).write_text(WRITABLE)
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    argv = [PROJECT / "lab" / "vagrant" / "box", tmp_path / "debian.box"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert (tmp_path / "writable").exists(), done.stderr
    assert (tmp_path / "writable").read_text() == ""


@pytest.mark.parametrize(
    ("full", "said"),
    [
        ("out", "out has 12 MiB of free space, but a box needs 1000 there; name a file in another"),
        ("cellbed-box.*", "but a box needs 5000 there; name another folder with TMPDIR"),
    ],
)
def test_a_disk_that_is_too_small_is_said_at_once(tmp_path: Path, full: str, said: str) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (tmp_path / "out").mkdir()
    stands_in = dict.fromkeys(("mmdebstrap", "mke2fs", "sfdisk", "qemu-img"), "exit 1")
    stands_in["df"] = f"case $3 in */{full}) echo 12M ;; *) echo 9999M ;; esac"
    for name, script in stands_in.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    argv = [PROJECT / "lab" / "vagrant" / "box", tmp_path / "out" / "debian.box"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and said in done.stderr.splitlines()[-1], done.stderr
    assert not list(tmp_path.glob("cellbed-box.*")) and not list((tmp_path / "out").iterdir())
