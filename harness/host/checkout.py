# SPDX-License-Identifier: GPL-2.0-only
"""The project's own checkout."""

from __future__ import annotations

import subprocess

from harness.host.paths import PROJECT


def commit() -> str:
    """The commit that is checked out, '+' where the tree has changes; '' without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=PROJECT, capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
