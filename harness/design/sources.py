# SPDX-License-Identifier: GPL-2.0-only
"""Which line of which file says a thing in an experiment. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.design.levels import listed, same
from harness.design.toml_file import TomlFile
from plan.errors import UsageError
from plan.plan import Level

# "rule 2: when.buffer: ..." and "queue.policy = edp: ..." begin with the place of the mistake.
PLACE = re.compile(r"(?:(rule|only) (\d+): )?(.+?)(?= = |: |$)")
# The place of a value in a list, which the validator counts from 0, at the end of a key.
OF_LIST = re.compile(r"^((?!factors\b)[\w.-]+)\.(\d+)(?= = |: )")
NUMBERED = re.compile(r"^(rule|only)\.(\d+)\.")  # as the validator counts, from 0


@dataclass(frozen=True)
class Line:
    """A line of a file.

    Attributes:
        depth: how many parts of a place it has; whole: has it all of them?
        table: the table of the file that it is in, such as rule.0.set.
    """

    file: TomlFile
    number: int
    depth: int
    whole: bool
    table: str = ""

    def mistake(self, sentence: str) -> UsageError:
        return self.file.mistake(self.number, sentence)


@dataclass(frozen=True)
class Sources:
    """The files of an experiment.

    Attributes:
        files: its own first, then the one that it extends; none where it was made in Python.
        kept: how many of its rules are those of the file that it extends.
    """

    files: tuple[TomlFile, ...] = ()
    kept: int = 0

    def refusal(self, origin: object, said: str) -> UsageError:
        """The error for a mistake, with its line where a file has it.

        Args:
            origin: names the experiment where no file has it.
            said: a sentence that begins with the place of the mistake in the file.
        """
        said = NUMBERED.sub(lambda found: f"{found[1]} {int(found[2]) + 1}: ", said)
        found = PLACE.match(said)
        at = self.of_file(found) if found else None
        said = counted(said)
        return at.mistake(said) if at else UsageError(f"{origin}: {said}")

    def refusal_at_top(self, origin: object, said: str) -> UsageError:
        """The error for a key that is missing at the top, with the first line of the file."""
        for file in self.files[:1]:
            if file.positions:
                return file.mistake(
                    min(file.positions.values()), f"{said}; write it above this line"
                )
        return self.refusal(origin, said)

    def refusal_of_setting(
        self, origin: object, said: str, cell: Mapping[str, Level], otherwise: str
    ) -> UsageError:
        """The same for a setting of a cell.

        otherwise: what is to be said, too, where no line sets it.
        """
        found = PLACE.match(said)
        at = self.of_setting(found[3], cell) if found else None
        said = counted(said)
        if at is None:
            return UsageError(f"{origin}: {said}{otherwise}")
        return at.mistake(said if at.whole else said + otherwise)

    def of_file(self, found: re.Match[str]) -> Line | None:
        """The line of a place in a file."""
        place = found[3]
        if found[1]:
            before = self.kept if found[1] == "rule" else 0
            place = f"{found[1]}.{int(found[2]) - 1 - before}.{place}"
        return next((line for file in self.files if (line := nearest(file, place))), None)

    def line_of(self, place: str) -> int:
        """The line of a key in the first file that has it; 0: no file has it."""
        return next((file.positions[place] for file in self.files if place in file.positions), 0)

    def have_factor(self, name: str) -> bool:
        """Does a file have a factor of this name?"""
        return any(name in file.table.get("factors", {}) for file in self.files)

    def below_another(self, said: str) -> str:
        """What is said of a table that is missing and stands below another's heading; or ""."""
        table, missing, _ = said.partition(": this key is missing")
        for file in self.files if missing else ():
            for place, line in file.positions.items():
                parts = place.split(".")
                if parts[0] == "base" and len(parts) == 3 and parts[2] == table:
                    above = f"[base.{parts[1]}]"
                    return f"; line {line} has it below {above}: write it above this heading"
        return ""

    def comment_on(self, name: str) -> str:
        """What is said of the first comment that names a file; "" where none does."""
        for file in self.files:
            for number, line in enumerate(file.text.split("\n"), 1):
                if line.lstrip().startswith("#") and name in line:
                    return f"; the comment in line {number} of {file.origin} is about {name}"
        return ""

    def of_setting(self, key: str, cell: Mapping[str, Level]) -> Line | None:
        """The line that a cell has a setting from, or that of its table where no line sets it."""
        best: Line | None = None
        for file, table in self.tables(cell):
            line = nearest(file, key, table)
            if line and (best is None or line.depth > best.depth):
                best = line
        return best

    def kind_over(
        self, place: str, key: str, cell: Mapping[str, Level]
    ) -> tuple[Line, Line] | None:
        """The line that gives a table its kind, and that of a key of it, where the kind came later.

        The key may be right with the kind that the table had before. None: both are in one table,
        or the key came later.
        """
        kind = self.of_setting(f"{place}.kind", cell)
        of_key = self.of_setting(f"{place}.{key}", cell)
        if kind is None or of_key is None or not (kind.whole and of_key.whole):
            return None
        order = [(file.origin, table) for file, table in self.tables(cell)]
        at_kind, at_key = (order.index((one.file.origin, one.table)) for one in (kind, of_key))
        return (kind, of_key) if at_kind < at_key else None

    def tables(self, cell: Mapping[str, Level]) -> Iterator[tuple[TomlFile, str]]:
        """The tables that settings of a cell may come from, the last word first."""
        for file in self.files:
            rules = file.table.get("rule", [])
            for number, rule in reversed(list(enumerate(rules))):
                if is_for(rule, cell):
                    yield file, f"rule.{number}.set"
        for file in self.files:
            yield file, "factors"
        for file in self.files:
            yield file, "base"


def counted(said: str) -> str:
    """A sentence about a value of a list, as a person counts: `record.pcap, value 1 = x: ...`."""
    return OF_LIST.sub(lambda found: f"{found[1]}, value {int(found[2]) + 1}", said)


def nearest(file: TomlFile, place: str, table: str = "") -> Line | None:
    """The line of a place in a table of a file, or of as much of the place as is there.

    Of a factor's name all must be there; of a setting that [base] does not have, [base] is.
    """
    parts = place.split(".")
    least = {"factors": len(parts), "base": 0}.get(table, 1)
    for many in range(len(parts), least - 1, -1):
        name = ".".join([*([table] if table else []), *parts[:many]])
        if number := file.positions.get(name):
            return Line(file, number, many, many == len(parts), table)
    return None


def is_for(rule: Mapping[str, Any], cell: Mapping[str, Level]) -> bool:
    """Is a rule of a file for a cell?"""
    return all(
        factor in cell and any(same(cell[factor], level) for level in listed(levels))
        for factor, levels in rule["when"].items()
    )
