# SPDX-License-Identifier: GPL-2.0-only
"""Labs for students: list the labs, start a lab, check a handed-in lab."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from harness.course import handout
from harness.course import lab as labs
from harness.course.check import HandedIn, Item, check_folder
from plan.errors import InvalidTrialError, UsageError

WIDTH = 20


@click.group(help=__doc__)
def command() -> None:
    pass


@command.command(name="list")
def list_labs() -> None:
    """List the labs and the minutes that each lab takes."""
    for name in labs.names():
        lab = labs.load(name)
        click.echo(f"{name:<{WIDTH}} {lab.minutes:>3} min  {lab.title}")


@command.command()
@click.argument("lab")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="The student's name. It decides the seed.")
def start(lab: str, folder: Path, name: str) -> None:
    """Copy LAB into DIR, with the student's own experiment and empty answers."""
    found = labs.find(lab)
    handout.start(found, folder, name)
    click.echo(f"Read {folder / labs.TEXT} first.")


@command.command()
@click.argument("lab")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@click.option(
    "--again", is_flag=True, help="Run the trials again on this machine and compare the records."
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each item.")
def check(lab: str, folders: tuple[Path, ...], again: bool, as_json: bool) -> None:
    """Say for each item in DIR whether it is right. Each DIR must belong to another student."""
    name = labs.find(lab)
    missing = [folder for folder in folders if not folder.is_dir()]
    if missing:
        raise UsageError(f"{missing[0]}: this folder does not exist")
    verdicts = []
    for handed_in in with_doubles_told(check_folder(name, folder, again) for folder in folders):
        (print_json if as_json else print_items)(handed_in)
        verdicts += [item.ok for item in handed_in.items]
    if not all(verdicts):
        wrong = verdicts.count(False)
        raise InvalidTrialError(f"{wrong} of {len(verdicts)} items are not right yet")


def with_doubles_told(looked_at: Iterable[HandedIn]) -> Iterator[HandedIn]:
    """One item more for each folder that has the seed of one before it."""
    first: dict[int, HandedIn] = {}
    for one in looked_at:
        if one.seed is not None and first.setdefault(one.seed, one) is not one:
            said = f"{first[one.seed].folder} has the same seed: find out whose work it is"
            one = HandedIn(**{**vars(one), "items": (Item(name="name", ok=False, sentence=said),
                                                     *one.items)})  # fmt: skip
        yield one


def print_items(handed_in: HandedIn) -> None:
    """A line an item, under one that says whose they are."""
    whose = "" if handed_in.student is None else f": {handed_in.student}, seed {handed_in.seed}"
    click.echo(printable(f"{handed_in.folder}, {handed_in.lab}{whose}"))
    for item in handed_in.items:
        mark = "ok" if item.ok else "NO"
        click.echo(f"  {mark}  {item.name:<{WIDTH}}  {printable(item.sentence)}")


def printable(text: str) -> str:
    """A line that no file's name and no answer can make into another one on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def print_json(handed_in: HandedIn) -> None:
    """An item a line."""
    whose = {"lab": handed_in.lab, "folder": str(handed_in.folder), "student": handed_in.student}
    for item in handed_in.items:
        click.echo(json.dumps({**whose, **asdict(item)}))
