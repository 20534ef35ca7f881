# SPDX-License-Identifier: GPL-2.0-only
"""The project's own checkout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from harness.host.paths import PROJECT
from plan.errors import MissingError

MADE = {"build", "mine", "results"}
OWN_DOTS = {".ci", ".devcontainer", ".dockerignore", ".github", ".gitignore"}  # no others


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
    """The project's own files, as the commit or the package has them: nothing that is made here.

    Raises:
        MissingError: this is a checkout, and git does not list its files.
    """
    if (PROJECT / ".git").exists():
        listed = of_commit()
    else:
        found = [path.relative_to(PROJECT) for path in PROJECT.rglob("*")]
        listed = [str(name) for name in found if name.parts[0] in OWN_DOTS or not hidden(name)]
    return sorted(name for name in listed if name and own(name))


def of_commit() -> list[str]:
    """What git lists; without git nobody can tell the project's files from a person's own."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"],
            cwd=PROJECT, env=environment(), capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip().splitlines() or [f"git ended with {error.returncode}"])[0]
        raise MissingError(f"git cannot list the files of {PROJECT}: {said}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingError(f"git cannot list the files of {PROJECT}: {error}") from error
    return done.stdout.split("\0")


def hidden(name: Path) -> bool:
    """Does its first part begin with a dot?"""
    return name.parts[0].startswith(".")


def own(name: str) -> bool:
    """Is it a file, and none that a command or Python has made?"""
    made = name.split("/")[0] in MADE or "__pycache__" in name
    return not made and (PROJECT / name).is_file()
