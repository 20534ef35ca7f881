# SPDX-License-Identifier: GPL-2.0-only
"""Copy the records of SHARD folders, which `run --shard` has made, into the campaign in DIR.

You can repeat the command at any time, also while shards are running. It copies only new records.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness.campaign.merge import merge
from harness.cli.command import Command
from plan.errors import CellbedError

MOST_NAMED = 4


@click.command(cls=Command, help=__doc__)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument(
    "shards", metavar="SHARD...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
def command(folder: Path, shards: tuple[Path, ...]) -> None:
    found = merge(folder, shards)
    click.echo(
        f"{folder}: {found.copied} records copied, {found.there} were there before, "
        f"{len(found.missing)} trials have no record yet"
    )
    if found.refused:
        named = "; ".join(found.refused[:MOST_NAMED])
        raise CellbedError(
            f"{len(found.refused)} records were not copied: {named}; remove these records, "
            "and run their shards again"
        )
    if found.missing:
        click.echo("Next: run the other shards, and merge again.", err=True)
    else:
        click.echo(f"Next: ./cellbed report {shlex.quote(str(folder))} writes a report.", err=True)
