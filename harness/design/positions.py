# SPDX-License-Identifier: GPL-2.0-only
"""In which line of a TOML file each key stands. Pure; of a file that tomllib has read."""

from __future__ import annotations

import re
from bisect import bisect_right

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
BARE = re.compile(r"[\w-]+")
QUOTED = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\])*"|' + r"'[^']*'", re.DOTALL
)
SCALAR = re.compile(r"[^,\]}#\n]*")


def positions(text: str) -> dict[str, int]:
    """Each key of a file with its line, from 1; the places of lists and of [[...]] count from 0.

    `[[rule]]`, `set = { queue.policy = "epd" }` gives rule.0, rule.0.set, rule.0.set.queue and
    rule.0.set.queue.policy.
    """
    return Scanner(text).document()


class Scanner:
    """Goes through a file once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.begins = [0, *(match.end() for match in re.finditer("\n", text))]
        self.found: dict[str, int] = {}
        self.counts: dict[str, int] = {}

    def document(self) -> dict[str, int]:
        table: list[str] = []
        self.skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.heading()
            else:
                self.pair(table)
            self.skip()
        return self.found

    def heading(self) -> list[str]:
        """The table that begins with [...] or [[...]]; in a list, with its number."""
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        line = self.line()
        self.at += brackets
        *before, last = self.key()
        self.at += brackets
        table: list[str] = []
        for part in before:
            table = self.numbered([*table, part])
        name = ".".join([*table, last])
        if brackets == 2:
            self.counts[name] = self.counts.get(name, -1) + 1
        table = self.numbered([*table, last])
        self.note(table, line)
        return table

    def numbered(self, table: list[str]) -> list[str]:
        """A table's name; of a list of tables with the number of the one that was begun last."""
        count = self.counts.get(".".join(table))
        return table if count is None else [*table, str(count)]

    def pair(self, table: list[str]) -> None:
        """KEY = VALUE."""
        line = self.line()
        name = [*table, *self.key()]
        self.at += 1  # =
        self.note(name, line)
        self.value(name)

    def key(self) -> list[str]:
        """The parts of a key with dots; behind it."""
        parts = []
        while True:
            self.skip()
            found = QUOTED.match(self.text, self.at) or BARE.match(self.text, self.at)
            assert found, self.text[self.at : self.at + 20]
            word = found[0]
            parts.append(word[1:-1] if word[0] in "\"'" else word)
            self.at = found.end()
            self.skip()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def value(self, name: list[str]) -> None:
        self.skip()
        begin = self.text[self.at : self.at + 1]
        if begin in ("[", "{"):
            self.several(name, begin)
            return
        found = QUOTED.match(self.text, self.at) or SCALAR.match(self.text, self.at)
        assert found
        self.at = found.end()

    def several(self, name: list[str], begin: str) -> None:
        """A list, or a table in braces."""
        end, number = {"[": "]", "{": "}"}[begin], 0
        self.at += 1
        self.skip()
        while not self.text.startswith(end, self.at):
            if begin == "[":
                self.note([*name, str(number)], self.line())
                self.value([*name, str(number)])
            else:
                self.pair(name)
            number += 1
            self.skip()
            if self.text.startswith(",", self.at):
                self.at += 1
                self.skip()
        self.at += 1

    def skip(self) -> None:
        """Behind blanks, line ends and comments."""
        found = BLANK.match(self.text, self.at)
        assert found
        self.at = found.end()

    def line(self) -> int:
        return bisect_right(self.begins, self.at)

    def note(self, name: list[str], line: int) -> None:
        """The line of a key, and of each table that it makes."""
        for many in range(1, len(name) + 1):
            self.found.setdefault(".".join(name[:many]), line)
