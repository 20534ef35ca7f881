# SPDX-License-Identifier: GPL-2.0-only
"""Every link from a page to a file of the project leads to it, and to its heading."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

LINK = re.compile(r"\]\(([^)\s]+)\)")
# What a block has is a file of its own.
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')
# A heading's words as they are seen: of a link its text.
SHOWN = re.compile(r"\[([^]]*)\]\([^)]*\)")


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
    links = [target.partition("#") for target in LINK.findall(text) if "#" in target]
    missing = [
        f"{file}#{heading}"
        for file, _, heading in links
        if "://" not in file and heading not in anchors(path.parent / file if file else path)
    ]
    assert missing == []


def anchors(path: Path) -> set[str]:
    """The names of a page's headings, as the websites of git repositories make them."""
    if path.suffix != ".md":
        return set()
    text = BLOCK.sub("", path.read_text("utf-8"))
    found = [name_of(heading) for heading in HEADING.findall(text)]
    again = [f"{one}-{found[:at].count(one)}" for at, one in enumerate(found) if one in found[:at]]
    return {*found, *again, *ANCHOR.findall(text)}


def name_of(heading: str) -> str:
    """Small letters, without punctuation, and with - in place of a blank."""
    shown = SHOWN.sub(r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
