# SPDX-License-Identifier: GPL-2.0-only
"""A class as a table: who, which lab, the points, what is wrong, and what nobody answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from harness.cli.tables import print_table
from harness.course.items import HandedIn, Item

HEADINGS = ("student", "lab", "points", "to read", "wrong", "not answered")
NAME, POINTS, TO_READ = 0, 2, 3


def print_class(handed_in: Sequence[HandedIn], console: Console) -> None:
    """A row for each folder; below the table, what is wrong beside answers."""
    names = names_of(handed_in)
    rows = [row(one, name) for one, name in zip(handed_in, names, strict=True)]
    left = {*range(len(HEADINGS))} - {POINTS, TO_READ}
    print_table(HEADINGS, rows, console, fold=len(HEADINGS), left=left)
    for one, name in zip(handed_in, names, strict=True):
        for item in (*faults(one), *not_run(one)):
            console.print(Text(printable(f"{name}, {item.name}: {item.sentence}")), soft_wrap=True)


def row(one: HandedIn, name: str) -> list[str]:
    """A folder in words."""
    asked = {question.key for question in one.lab.question}
    wrong = [item.name for item in one.named("wrong", "unreadable") if item.name in asked]
    missing = [item.name for item in one.named("not answered")]
    missing = ["all"] if asked <= set(missing) else missing
    points = "-" if one.lab.exam else f"{one.points} of {one.most}"
    cells = (name, one.name, points, str(one.to_read), faulty(one, wrong), ", ".join(missing))
    return [printable(cell) for cell in cells]


def faulty(one: HandedIn, wrong: Sequence[str]) -> str:
    """What is wrong: of the folder first, since it may be why answers are."""
    return ", ".join([*(item.name for item in faults(one)), *wrong])


def faults(one: HandedIn) -> Sequence[Item]:
    """What is wrong with the folder, its record and its name, and not with an answer."""
    asked = {question.key for question in one.lab.question}
    return [item for item in one.named("wrong") if item.name not in asked]


def not_run(one: HandedIn) -> Sequence[Item]:
    """The record, where the lab was not run: the line tells the command."""
    asked = {question.key for question in one.lab.question}
    return [item for item in one.named("not answered") if item.name not in asked]


def names_of(handed_in: Sequence[HandedIn]) -> list[str]:
    """The student of each folder, with the folder if two have this student; else the folder."""
    often = Counter(one.student for one in handed_in)
    return [
        str(one.folder) if one.student is None
        else f"{one.student} ({one.folder})" if often[one.student] > 1
        else one.student
        for one in handed_in
    ]  # fmt: skip


def printable(text: str) -> str:
    """A line that no file's name and no answer can make into another one on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
