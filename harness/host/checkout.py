# SPDX-License-Identifier: GPL-2.0-only
"""The project's own checkout."""

from __future__ import annotations

import os
import subprocess

from harness.host.paths import PROJECT

MADE = {"build", "mine", "results"}


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


def files() -> list[str]:
    """The project's own files, as the commit or the package has them: nothing that is made here."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"],
            cwd=PROJECT, env=environment(), capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        listed = done.stdout.split("\0")
    except (OSError, subprocess.SubprocessError):
        listed = [str(path.relative_to(PROJECT)) for path in PROJECT.rglob("*")]
    return sorted(name for name in listed if name and own(name))


def own(name: str) -> bool:
    """Is it a file, and none that a command or Python has made?"""
    made = name.split("/")[0] in MADE or "__pycache__" in name
    return not made and (PROJECT / name).is_file()
