# SPDX-License-Identifier: GPL-2.0-only
"""Follows a guide: its sh blocks as they stand, in a copy of the project."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
NOT_COPIED = shutil.ignore_patterns(".*", "results", "__pycache__")
# Of what lies in the copy in the end: results, compiled Python, and what tools keep for themselves.
LEFT_OUT = re.compile(r"(^|/)(\.[^/]*|results|__pycache__)/")
LIMIT_S = 900


def follow(
    guide: Path, copy: Path, section: str = "", after: Callable[[str], None] = lambda section: None
) -> None:
    """Run the blocks of a guide, or those of one section, in the project's copy.

    Args:
        after: called with the name of each section that has been followed.
    """
    found = [(name, blocks) for name, blocks in sections(guide) if section in ("", name)]
    assert any(blocks for _, blocks in found), f"{guide}: {section}: no block"
    for name, blocks in found:
        for block in blocks:
            run(block, copy)
        after(name)


def sections(guide: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and blocks of each section; what comes before the first has no name."""
    before, *rest = HEADING.split(guide.read_text(encoding="utf-8"))
    for name, text in [("", before), *zip(rest[::2], rest[1::2], strict=True)]:
        yield name, BLOCK.findall(text)


def run(block: str, copy: Path) -> None:
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", block], cwd=copy,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{block}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def contents(copy: Path) -> dict[str, str]:
    """A hash of each file of the project's own in its copy."""
    found = {path: str(path.relative_to(copy)) for path in copy.rglob("*")}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path, name in found.items()
        if path.is_file() and not LEFT_OUT.search(name)
    }
