# SPDX-License-Identifier: GPL-2.0-only
"""`python -m harness.cli.man FOLDER`: manual pages of all commands, from what -h says."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import click
from click_man.core import write_man_pages

from harness.cli.group import cellbed
from harness.host.paths import PROJECT


def write(folder: Path) -> None:
    """cellbed.1, and cellbed-COMMAND.1 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(cellbed)
    found = {name: cellbed.get_command(context, name) for name in cellbed.list_commands(context)}
    # click-man wants to see all of them at once.
    whole = click.Group("cellbed", {n: one for n, one in found.items() if one}, help=cellbed.help)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write_man_pages("cellbed", whole, version=project["version"], target_dir=str(folder))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
