# SPDX-License-Identifier: GPL-2.0-only
"""What is said of each thing that a student handed in, and the points that it earned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from harness.course.lab import CourseLab, Sentences

State = Literal["right", "wrong", "not answered", "received", "unreadable", "not judged"]
"""received: it was read, and nothing more is said; a guess, sentences, all answers of an exam.
not judged: there is no whole record of the student by which it could be."""

MARKS: dict[State, str] = {
    "right": "ok",
    "wrong": "NO",
    "not answered": "--",
    "received": "in",
    "unreadable": "??",
    "not judged": "--",
}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that was handed in; sentence: what is wrong with it, or what it is.

    most: the points that it can earn, 0 of what is no question. points: those that it earned;
    None where a person has to read it, or where the lab is an exam.
    """

    name: str
    state: State
    sentence: str
    points: int | None = 0
    most: int = 0

    @property
    def ok(self) -> bool:
        return self.state in ("right", "received")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True, kw_only=True)
class HandedIn:
    """A folder that was looked at; student and seed are None where it names nobody."""

    name: str
    lab: CourseLab
    folder: Path
    student: str | None
    seed: int | None
    items: tuple[Item, ...]

    @property
    def points(self) -> int:
        """That this program gives."""
        return sum(item.points or 0 for item in self.items)

    @property
    def most(self) -> int:
        """The points that this program can give in this lab."""
        return sum(one.points for one in self.lab.question if not isinstance(one, Sentences))

    @property
    def to_read(self) -> int:
        """The points that a person can give for the sentences that were handed in."""
        return sum(item.most for item in self.items if item.points is None)

    def named(self, *states: State) -> Sequence[Item]:
        """Its items in these states."""
        return [item for item in self.items if item.state in states]
