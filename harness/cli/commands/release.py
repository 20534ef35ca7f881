# SPDX-License-Identifier: GPL-2.0-only
"""Write what set-up has made into one archive, for machines without compiler and network.

./cellbed setup --from FILE uses the archive. It has the sources' list and licences in it, and the
same products give the same bytes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from harness.cli.archive import described, folder
from harness.cli.command import Command
from harness.host import paths
from harness.labs import processors
from plan.errors import CellbedError, MissingError

MISSES = 3  # of a recipe: the table of docs/commands.md


@click.command(cls=Command, help=__doc__)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path(),
    help="The folder that gets the archive [the current folder].",
)  # fmt: skip
@click.option(
    "--arch", type=click.Choice(processors.NAMES), default=processors.X86_64,
    help="The processor of the machines that use the release [x86-64].",
)  # fmt: skip
def command(out: Path, arch: str) -> None:
    click.echo(described(build(folder(out), arch)))


def build(out: Path, arch: str) -> Path:
    """Run the recipe; gives the archive."""
    argv = [str(paths.PROJECT / "lab" / "release" / "build"), str(out), arch]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == MISSES:
        raise MissingError("the release was not made; the lines above say why")
    if done.returncode:
        raise CellbedError("the release was not made; the lines above say why")
    return Path(done.stdout.strip())
