# SPDX-License-Identifier: GPL-2.0-only
"""The guides do what they say: their sh blocks are run as they stand, in a copy of the project.

By default the one that changes the project; with CELLBED_SLOW_TESTS=1 all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

SLOW = "CELLBED_SLOW_TESTS" in os.environ
GUIDES = sorted((PROJECT / "docs" / "guides").glob("*.md" if SLOW else "extend.md"))
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_COPIED = shutil.ignore_patterns(".*", "results", "__pycache__")
LIMIT_S = 900


@pytest.mark.lab
@pytest.mark.parametrize("guide", GUIDES, ids=[guide.stem for guide in GUIDES])
def test_a_guide_can_be_followed(tmp_path: Path, guide: Path) -> None:
    blocks = BLOCK.findall(guide.read_text(encoding="utf-8"))
    assert blocks
    copy = tmp_path / "cellbed"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    for block in blocks:
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", block], cwd=copy, env={**os.environ},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
