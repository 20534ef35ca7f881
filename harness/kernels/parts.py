# SPDX-License-Identifier: GPL-2.0-only
"""Which files of a kernel's source the lab kernel is made of: those that lab/kernel/parts names."""

from __future__ import annotations

import re
from functools import cache

from harness.host import paths

PARTS = "lab/kernel/parts"
# What a build in the tree itself leaves, where Git does not tell.
MADE = re.compile(
    r"(?:.*/)?(?:\.[^/]*\.cmd|\.tmp_[^/]*|modules\.order|[^/]+\.(?:o|a|ko|mod|mod\.c|cmd|so|dtb))$"
    r"|include/(?:generated|config)/|arch/[^/]+/include/generated/"
)


def wanted(path: str) -> bool:
    """Is a file, by its path from the top of the source, part of the lab kernel?"""
    return _wanted().match(path) is not None


@cache
def _wanted() -> re.Pattern[str]:
    """What the lines of PARTS match, which lab/kernel/fetch says to tar."""
    text = (paths.PROJECT / PARTS).read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return re.compile(rf"(?:{'|'.join(map(expression, lines))})(?:/|$)")


def expression(line: str) -> str:
    """A line of PARTS as a regular expression."""
    name = line.removeprefix("**/")
    escaped = re.escape(name).replace(r"\*", "[^/]*").replace(r"\[", "[").replace(r"\]", "]")
    return escaped if name == line else f"(?:.*/)?{escaped}"
