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
