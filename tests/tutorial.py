# SPDX-License-Identifier: GPL-2.0-only
"""docs/tutorial.md: `python -m tests.tutorial` follows it and renews the outputs that it shows.

A block of sh is a step; after "sh exits with N" its last command ends with N. A block of text
below it shows what the step prints. tests/test_tutorial.py follows the steps too, and compares.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.guides import NOT_COPIED
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "tutorial.md"
STEP = re.compile(
    r"^```sh(?: exits with (?P<code>\d+))?\n(?P<block>.*?)^```\n"
    r"(?:\n(?P<shown>```text\n.*?^```)\n)?",
    re.MULTILINE | re.DOTALL,
)
LIMIT_S = 600


class Step(NamedTuple):
    """A block, what the page shows below it (None: nothing), and what it prints."""

    block: str
    shown: str | None
    printed: str


def followed(text: str, folder: Path) -> Iterator[Step]:
    """Run the steps, one after the other, in a copy of the project in `folder`."""
    copy = folder / "cellbed"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    for step in STEP.finditer(text):
        printed = run(step["block"], copy, int(step["code"] or 0))
        yield Step(step["block"], step["shown"], f"```text\n{printed}```")


def run(block: str, folder: Path, code: int) -> str:
    """What a block prints, without blanks at the ends of lines."""
    argv = ["bash", "-eu", "-o", "pipefail", "-c", block]
    done = subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == code, f"{block}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def renew() -> None:
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        printed = iter([step.printed for step in followed(text, Path(name))])

    def renewed(step: re.Match[str]) -> str:
        now = next(printed)
        return step[0].replace(step["shown"], now) if step["shown"] else step[0]

    PAGE.write_text(STEP.sub(renewed, text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew())
