# SPDX-License-Identifier: GPL-2.0-only
"""Labs for students: list the labs, start a lab, check a handed-in lab."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from harness.cli import completion
from harness.cli.class_table import print_class, printable
from harness.cli.command import Group
from harness.course import handout, plain
from harness.course import lab as labs
from harness.course.check import check_folder
from harness.course.exam import as_exam
from harness.course.items import MARKS, HandedIn, Item
from plan.errors import InvalidTrialError, UsageError

WIDTH = 20
lab_argument = click.argument("lab", shell_complete=completion.names(labs.names))
TABLE_WIDTH = 120  # of a class table that goes into a file


@click.group(cls=Group, help=__doc__)
def command() -> None:
    pass


@command.command(name="list")
def list_labs() -> None:
    """List the labs and the minutes that each lab takes."""
    wrong = []
    for name in labs.names():
        try:
            lab = labs.load(name)
        except UsageError as error:
            wrong.append(error)
            continue
        click.echo(f"{name:<{WIDTH}} {lab.minutes:>3} min  {lab.title}")
    if wrong:
        raise wrong[0]


@command.command()
@lab_argument
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="The student's name. It decides the seed.")
def start(lab: str, folder: Path, name: str) -> None:
    """Copy LAB into DIR, with the student's own experiment and empty answers."""
    found = labs.find(lab)
    handout.start(found, folder, name)
    click.echo(f"Read {folder / labs.TEXT} first.")


@command.command()
@lab_argument
@click.argument("folders", metavar="DIR...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@click.option(
    "--again", is_flag=True, help="Run the trials again on this machine and compare the records."
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each item.")
@click.option("--table", is_flag=True, help="Print one row for each student.")
def check(lab: str, folders: tuple[Path, ...], again: bool, as_json: bool, table: bool) -> None:
    """Say for each item in DIR whether it is right. Each DIR must belong to another student."""
    name = labs.find(lab)
    refuse_folders(folders)
    if as_json and table:
        raise UsageError("--json and --table: choose one of them")
    found = []
    for handed_in in with_doubles_told(check_folder(name, folder, again) for folder in folders):
        if not table:
            (print_json if as_json else print_items)(handed_in)
        found.append(handed_in)
    if table:
        print_class(found, Console(width=None if sys.stdout.isatty() else TABLE_WIDTH))
    if said := not_right_yet([item for one in found for item in one.items]):
        raise InvalidTrialError(said)


def refuse_folders(folders: Sequence[Path]) -> None:
    """Refuse a command that names no folder at all, or one folder twice by the same name.

    What a student can do, a missing folder or a link to another one, ends no grading of others.
    """
    if not any(folder.is_dir() for folder in folders):
        raise UsageError(f"{folders[0]}: {plain.not_a_folder(folders[0])}")
    for folder, times in Counter(map(os.path.abspath, folders)).items():
        if times > 1:
            raise UsageError(f"{folder}: this folder is named twice; name each folder once")


def not_right_yet(items: Sequence[Item]) -> str:
    """How many items are not as they should be, in words; "" where all are."""
    missing = sum(item.state == "not answered" for item in items)
    wrong = sum(not item.ok for item in items) - missing
    parts = [f"{wrong} of {len(items)} items are not right yet"] if wrong else []
    parts += [f"{missing} of {len(items)} items are not answered"] if missing else []
    return ", ".join(parts)


@command.command()
@lab_argument
@click.option("--out", "out", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the questions into FILE, perhaps in place of the lab.toml of this copy.")
def exam(lab: str, out: Path | None) -> None:
    """Print LAB's questions for an exam. With this lab.toml, a check only receives answers."""
    text = as_exam(labs.find(lab))
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: this file cannot be written ({error.strerror})") from error
    click.echo(f"{out} is the lab.toml of an exam now: give it to the students only.")


def with_doubles_told(looked_at: Iterable[HandedIn]) -> Iterator[HandedIn]:
    """One item more for each folder that has the seed of one before it."""
    first: dict[int, HandedIn] = {}
    for one in looked_at:
        if one.seed is not None and first.setdefault(one.seed, one) is not one:
            said = f"{first[one.seed].folder} has the same seed: find out whose work it is"
            one = replace(one, items=(Item(name="name", state="wrong", sentence=said), *one.items))
        yield one


def print_items(handed_in: HandedIn) -> None:
    """A line for whose they are, a line for each item, and a line for the points."""
    whose = "" if handed_in.student is None else f": {handed_in.student}, seed {handed_in.seed}"
    click.echo(printable(f"{handed_in.folder}, {handed_in.name}{whose}"))
    for item in handed_in.items:
        click.echo(f"  {MARKS[item.state]}  {item.name:<{WIDTH}}  {printable(item.sentence)}")
    if handed_in.student is not None:
        click.echo(f"  points: {points(handed_in)}")


def points(one: HandedIn) -> str:
    """The points of a folder in words."""
    if one.lab.exam:
        return "your teacher grades the answers that were received"
    read = f"; up to {one.to_read} more by your teacher, who reads your sentences"
    return f"{one.points} of {one.most}{read if one.to_read else ''}"


def print_json(handed_in: HandedIn) -> None:
    """An item a line."""
    whose = {"lab": handed_in.name, "folder": str(handed_in.folder), "student": handed_in.student}
    for item in handed_in.items:
        click.echo(json.dumps({**whose, **item.as_json()}))
