# SPDX-License-Identifier: GPL-2.0-only
"""The TCP module is the same wherever it is built."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.host import paths

RECIPE = paths.PROJECT / "lab/programs/tcp-module"
ENTER = paths.PROJECT / "lab/root/enter"

pytestmark = pytest.mark.lab


def test_another_folder_gives_set_ups_bytes(tmp_path: Path) -> None:
    build = paths.kernel().parent / "build"
    argv = [ENTER, RECIPE, build, tmp_path / "another/folder", tmp_path]
    subprocess.run(argv, check=True, timeout=300)
    made, ours = (folder / "cellbed_tcp.ko" for folder in (tmp_path, paths.programs()))
    assert made.read_bytes() == ours.read_bytes()
