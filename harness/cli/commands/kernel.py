# SPDX-License-Identifier: GPL-2.0-only
"""Kernels for the uml lab: build, list, remove.

NAME is 6.12 (set-up's kernel), a version that Debian has (such as 6.1), path:DIR (your own source
tree, as it is now) or git:DIR@COMMIT. cellbed never writes to DIR. Add ,hz=N for a kernel that
ticks N times a second, ,config=+OPTION for a kernel with an option of Kconfig, and ,patch=FILE for
a kernel with your patches. cellbed builds a kernel when lab.kernel or --kernel first names it;
`build` builds it earlier.
"""

from __future__ import annotations

import click
from rich.console import Console

from harness.cli.command import Group
from harness.cli.tables import print_table
from harness.kernels import names, store
from harness.kernels.kernel import Kernel
from plan.errors import UsageError

MIB = 1 << 20


@click.group(name="kernel", cls=Group, help=__doc__)
def command() -> None:
    """The commands below."""


@command.command()
@click.argument("name", nargs=-1, required=True)
def build(name: tuple[str, ...]) -> None:
    """Build the kernels that do not exist yet, and say what each kernel lacks."""
    for one in name:
        found = store.ready(one)
        for line in said(one, found):
            click.echo(line)


def said(name: str, found: Kernel | None) -> list[str]:
    """A kernel in words."""
    if found is None:
        return [f"kernel {name} is set-up's kernel"]
    left_out = [f"  built without: {title}" for title in found.left_out]
    lacks = [f"  it has no {', '.join(found.lacks)}"] if found.lacks else []
    no_module = [f"  no TCP module: {found.no_module}"] if found.no_module else []
    first = f"kernel {name}: {found.release}, {found.source}, {found.hz} ticks a second"
    return [first, *left_out, *lacks, *no_module]


@command.command(name="list")
def list_command() -> None:
    """List the built kernels, except set-up's."""
    rows = [
        [
            one.name,
            one.release,
            str(one.hz),
            "no" if one.no_module else "yes",
            f"{store.size(one.folder) / MIB:.0f}",
            one.source,
        ]
        for one in store.built()
    ]
    if not rows:
        click.echo("no kernel is built except set-up's", err=True)
    else:
        headings = ["name", "release", "hz", "TCP module", "MiB", "source"]
        print_table(headings, rows, Console(), fold=0, left={0, 1, 3, 5})


@command.command()
@click.argument("name", nargs=-1, required=True)
def remove(name: tuple[str, ...]) -> None:
    """Remove kernels and their build folders. git:DIR removes all kernels of that repository."""
    for one in name:
        if one == names.SET_UP:
            raise UsageError(f"kernel {one} is set-up's kernel; ./cellbed clean --cache removes it")
        click.echo(f"kernel {one}: {store.remove(one) / MIB:.0f} MiB freed")
