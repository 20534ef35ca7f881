# SPDX-License-Identifier: GPL-2.0-only
"""Follows a guide: its sh blocks as they stand, in a copy of the project."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_COPIED = shutil.ignore_patterns(".*", "results", "__pycache__")
LIMIT_S = 900


def follow(guide: Path, copy: Path, section: str = "") -> None:
    """Run the blocks of a guide, or those of one section, in the project's copy."""
    text = guide.read_text(encoding="utf-8")
    if section:
        text = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = BLOCK.findall(text)
    assert blocks, f"{guide}: {section}: no block"
    for block in blocks:
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", block], cwd=copy,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
