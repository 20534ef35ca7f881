# SPDX-License-Identifier: GPL-2.0-only
"""Finds what iperf said into a file of the script, where nobody may look. In the lab."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

# iperf 2.2.1: a time or an interval that it refuses, such as one with a unit, and then it ends.
REFUSED = re.compile(
    r"ERROR: (?P<t>-t) value of '(?P<time>[^'\n]{1,40})' not recognized"
    r"|Invalid value of '(?P<interval>[^'\n]{1,40})' for (?P<i>-i) interval"
)
MOST_FILES = 1000
# What refuses a time ends at once, so its words are at the begin of what a script writes.
MOST_BYTES = 1 << 16


def refused(text: str) -> Iterator[str]:
    """The options, such as -t 66s, that iperf refused in this text."""
    for found in REFUSED.finditer(text):
        yield f"{found['t'] or found['i']} {found['time'] or found['interval']}"


def notes(folders: Iterable[Path]) -> list[list[str]]:
    """As of lab.py: kind, name and command, each once, from the files in these folders."""
    found = {name: None for file in files(folders) for name in refused(begin(file))}
    return [["iperf", name, ""] for name in found]


def files(folders: Iterable[Path]) -> list[Path]:
    """The first of them, in the order of their names, which is the same on each machine."""
    walks = (os.walk(folder) for folder in folders)
    paths = (Path(here, name) for walk in walks for here, _, names in walk for name in names)
    return sorted(paths)[:MOST_FILES]


def begin(file: Path) -> str:
    """Its first characters; none of a device, of a pipe or of a link, which may not end."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return ""
        with file.open("rb") as reader:
            return reader.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
