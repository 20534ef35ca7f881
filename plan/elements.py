# SPDX-License-Identifier: GPL-2.0-only
"""Two-line elements (TLE): the orbit of a satellite as two lines of 69 characters.

A line with the name of the satellite may stand above the two lines. Empty lines, and lines that
begin with #, are left out. The last digit of each line is a checksum: the sum of its digits, with 1
for each minus sign, modulo 10.

Source: Hoots, Roehrich: "Models for Propagation of NORAD Element Sets", Spacetrack Report #3, 1980,
section 2 and appendix A. A number above 99,999 begins with a letter (Alpha-5). Standard library
only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plan.errors import UsageError

LENGTH = 69
# The columns give a field's width; blanks stand only before its digits.
NUMBER = r"[A-HJ-NP-Z]\d{4}| *\d+"
ANGLE = r" *\d+\.\d{4}"
POWER = r"[ +-]\d{5}[+-]\d"
# The first and the last column of a field, its name, its pattern, and an example.
FIELDS: dict[str, Sequence[tuple[int, int, str, str, str]]] = {
    "1": (
        (3, 7, "number of the satellite", NUMBER, "25544"),
        (19, 32, "epoch", r"\d\d *\d+\.\d{8}", "19343.69339541"),
        (34, 43, "first derivative of the mean motion", r"[ +-]\.\d{8}", " .00001764"),
        (45, 52, "second derivative of the mean motion", POWER, " 00000-0"),
        (54, 61, "drag term", POWER, " 38792-4"),
        (65, 68, "number of the element set", r" *\d+", " 999"),
        (69, 69, "checksum", r"\d", "1"),
    ),
    "2": (
        (3, 7, "number of the satellite", NUMBER, "25544"),
        (9, 16, "inclination", ANGLE, " 51.6439"),
        (18, 25, "right ascension of the ascending node", ANGLE, "211.2001"),
        (27, 33, "eccentricity", r"\d{7}", "0007417"),
        (35, 42, "argument of the perigee", ANGLE, " 17.6667"),
        (44, 51, "mean anomaly", ANGLE, " 85.6398"),
        (53, 63, "mean motion", r" *\d+\.\d{8}", "15.50103472"),
        (64, 68, "number of the revolution", r" *\d+", "20248"),
        (69, 69, "checksum", r"\d", "2"),
    ),
}


@dataclass(frozen=True)
class Elements:
    """A satellite's elements.

    Attributes:
        name: the line above, or the number of the satellite.
        first, second: the two lines.
        at: the number of the first line in the file.
    """

    name: str
    first: str
    second: str
    at: int

    def epoch(self) -> datetime:
        """Return the moment at which the elements hold."""
        years, days = int(self.first[18:20]), float(self.first[20:32])
        year = 1900 + years if years >= 57 else 2000 + years  # the first satellite is of 1957
        return datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=days - 1)


def checksum(line: str) -> int:
    """Return the checksum of a line's first 68 characters."""
    return sum(int(one) if one.isdigit() else one == "-" for one in line[: LENGTH - 1]) % 10


def read(name: str, lines: Sequence[str]) -> list[Elements]:
    """Return the satellites of a file; name: of the file, for error messages.

    Raises:
        UsageError: the text is one line with the file, its line, the value and what is allowed.
    """
    found: list[Elements] = []
    numbered = _lines(lines)
    title = ""
    for at, line in numbered:
        if not line.startswith("1 "):
            if title or line.startswith("2 "):
                raise _wrong(name, at, line[:LENGTH], "must be line 1 of two-line elements")
            title = line.strip()
            continue
        _check(name, at, line, "1")
        after, second = next(numbered, (at, ""))
        _check(name, after, second, "2")
        if second[2:7] != line[2:7]:
            raise _wrong(
                name, after, second[2:7], f"must be the number of the line above, {line[2:7]}"
            )
        found.append(Elements(title.removeprefix("0 ") or line[2:7].strip(), line, second, at))
        title = ""
    if not found:
        raise UsageError(f"topology.path: {name}: the file has no two-line elements")
    if title:
        raise UsageError(f"topology.path: {name}: the two lines behind {title[:40]} are missing")
    return found


def _lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            yield at, line.rstrip()


def _check(name: str, at: int, line: str, number: str) -> None:
    if not line.startswith(f"{number} "):
        said = f'must be line {number} of two-line elements, which begins with "{number} "'
        raise _wrong(name, at, line[:LENGTH] or "the file ends here", said)
    if len(line) != LENGTH:
        raise _wrong(name, at, line[:LENGTH], f"must have {LENGTH} characters, not {len(line)}")
    for first, last, field, pattern, example in FIELDS[number]:
        value = line[first - 1 : last]
        if not re.fullmatch(pattern, value, re.ASCII):
            columns = f"columns {first} to {last}" if last > first else f"column {first}"
            raise _wrong(name, at, f'"{value}"', f'the {field} ({columns}) is as "{example}"')
    if int(line[-1]) != checksum(line):
        raise _wrong(
            name, at, line[-1], f"the checksum must be {checksum(line)}; is a digit of it wrong?"
        )


def _wrong(name: str, at: int, shown: str, said: str) -> UsageError:
    return UsageError(f"topology.path: {name}, line {at}: {shown}: {said}")
