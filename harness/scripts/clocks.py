# SPDX-License-Identifier: GPL-2.0-only
"""Which figures of a script depend on the clock: compares what it printed on two clocks."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# A real machine's own noise; what differs less is not worth a line.
TELL_FROM = 0.05
# Of each output; the time to align lines grows with the square of their number.
MOST_LINES = 2000


def differences(virtual: str, real: str) -> list[str]:
    """A sentence for each line whose figures differ, and one for the lines that only one run has.

    Args:
        virtual, real: what the script printed on each clock.
    """
    first, second = virtual.splitlines()[:MOST_LINES], real.splitlines()[:MOST_LINES]
    shapes = [[NUMBER.sub("#", line).strip() for line in lines] for lines in (first, second)]
    matcher = difflib.SequenceMatcher(a=shapes[0], b=shapes[1], autojunk=False)
    told, alone = [], 0
    for kind, begin, end, other, until in matcher.get_opcodes():
        if kind == "equal":
            pairs = zip(range(begin, end), range(other, until), strict=True)
            told += [
                f"line {here + 1}: {first[here].strip()!r} on the virtual clock, "
                f"{second[there].strip()!r} on the real clock"
                for here, there in pairs
                if any(differ(*pair) for pair in numbers(first[here], second[there]))
            ]
        else:
            alone += (end - begin) + (until - other)
    if alone:
        told.append(f"{alone} lines are in the output of one clock only")
    if len(virtual.splitlines()) > MOST_LINES:
        told.append(f"only the first {MOST_LINES:,} lines were compared")
    return told


def numbers(first: str, second: str) -> Iterator[tuple[float, float]]:
    """The figures of two lines of the same shape."""
    found = zip(NUMBER.findall(first), NUMBER.findall(second), strict=True)
    return ((float(here), float(there)) for here, there in found)


def differ(first: float, second: float) -> bool:
    """By more than the noise."""
    return abs(first - second) > TELL_FROM * max(abs(first), abs(second))
