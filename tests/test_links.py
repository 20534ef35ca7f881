# SPDX-License-Identifier: GPL-2.0-only
"""Every link from a page to a file of the project leads to it."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.small import PROJECT

LINK = re.compile(r"\]\(([^)\s]+)\)")
# What a block has is a file of its own.
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    path = PROJECT / page
    text = BLOCK.sub("", path.read_text("utf-8"))
    targets = [target.partition("#")[0] for target in LINK.findall(text)]
    files = [target for target in targets if target and "://" not in target]
    assert [target for target in files if not (path.parent / target).exists()] == []
