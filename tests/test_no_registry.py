# SPDX-License-Identifier: GPL-2.0-only
"""No file names the server of a package registry: a machine knows its own, and they change."""

from __future__ import annotations

import re
import subprocess

from tests.small import PROJECT

SERVERS = re.compile(
    r"\b(?:(?:deb|ftp|http|security|snapshot)(?:\.\w\w)?\.debian\.org|(?:www\.)?pypi\.(?:org|python)"
    r"|files\.pythonhosted|registry\.npmjs|static\.crates\.io|proxy\.golang|repo1?\.maven)\b"
)


def test_no_file_names_one() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = PROJECT / name
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes().decode("utf-8", "replace")
            found += [f"{name}: {match[0]}" for match in SERVERS.finditer(text)]
    assert found == []
