# SPDX-License-Identifier: GPL-2.0-only
"""`python -m harness.cli.man FOLDER`: manual pages of all commands, from what -h says."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from harness.cli.group import cellbed
from harness.host.version import version


def write(folder: Path) -> None:
    """cellbed.1, and cellbed-COMMAND.1 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(cellbed)
    found = {name: cellbed.get_command(context, name) for name in cellbed.list_commands(context)}
    # click-man wants to see all of them at once.
    parts = {name: one for name, one in found.items() if one}
    whole = named(click.Group("cellbed", parts, help=cellbed.help))
    write_man_pages("cellbed", whole, version=version(), target_dir=str(folder))


def named(command: click.Command) -> click.Command:
    """A command of which the page's first line has the whole first paragraph, not its beginning."""
    found = copy.copy(command)
    found.short_help = " ".join((command.help or "").partition("\n\n")[0].split()).rstrip(".")
    if isinstance(found, click.Group):
        found.commands = {name: named(one) for name, one in found.commands.items()}
    return found


if __name__ == "__main__":
    write(Path(sys.argv[1]))
