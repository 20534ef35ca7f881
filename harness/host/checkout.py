# SPDX-License-Identifier: GPL-2.0-only
"""The project's own checkout."""

from __future__ import annotations

import os
import subprocess

from harness.host.paths import PROJECT


def environment() -> dict[str, str]:
    """What keeps git from naming a repository that the project was unpacked in, or a hook's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CEILING_DIRECTORIES": str(PROJECT.parent)}


def commit() -> str:
    """The commit that is checked out, '+' where the tree has changes; '' without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=PROJECT, env=environment(), capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
