# SPDX-License-Identifier: GPL-2.0-only
"""Run the Mininet script FILE.py unchanged in a lab, and end with the script's exit status.

The script sees the files of its folder. --out keeps the files that it writes there and in /tmp.
--beside 'ryu-manager app.py' starts a controller before the script.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from harness.cli.command import Command
from harness.cli.scripts import find, run_script, script_options
from harness.scripts import python2_text
from harness.scripts.host import Script
from plan.errors import UsageError

INTERPRETERS = {".py": "python3", ".sh": "bash"}
PYTHON2 = "python2"
SHELL = re.compile(rb"#!.*\b(?:ba|da)?sh\b")


# What follows FILE is the script's.
@click.command(cls=Command, help=__doc__, context_settings={"allow_interspersed_args": False})
@script_options
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    file: Path,
    args: tuple[str, ...],
    clock: str | None,
    out: Path | None,
    compare_clocks: bool,
    **options: Any,
) -> None:
    found = find(file)
    interpreter = interpreter_of(found)
    if interpreter == "python3":
        interpreter = PYTHON2 if options["python2"] else interpreter
        if not options["python2"] and (why := python2_text.is_old(found)):
            raise UsageError(
                f"{file} is written in Python 2 ({why}); ./cellbed mininet --python2 converts it"
                + (", but an option must come before the file" if "--python2" in args else "")
            )
    # A name that begins with a hyphen would be an option of Python's.
    name = f"./{found.name}" if found.name.startswith("-") else found.name
    script = Script(argv=[interpreter, name, *args], folder=found.parent, **options)
    run_script(script, clock, out, compare_clocks=compare_clocks)


def interpreter_of(path: Path) -> str:
    """By the end of a script's name or, if that says nothing, by its first line."""
    if path.suffix in INTERPRETERS:
        return INTERPRETERS[path.suffix]
    with path.open("rb") as file:
        return "bash" if SHELL.match(file.readline(200)) else "python3"
