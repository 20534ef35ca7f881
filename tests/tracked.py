# SPDX-License-Identifier: GPL-2.0-only
"""The project's own files: what else lies in its folder is a user's, and no test judges it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.small import PROJECT


def tracked(*patterns: str) -> list[Path]:
    """Files of the project that Git knows, and that are there."""
    argv = ["git", "ls-files", "-z", *patterns]
    listed = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=True)
    paths = (PROJECT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]
