# SPDX-License-Identifier: GPL-2.0-only
"""Copy the records of SHARD folders, which `run --shard` has made, into the campaign in DIR.

You can repeat the command at any time, also while shards are running. It copies only new records.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness.campaign import unfinished
from harness.campaign.merge import Merged, merge
from harness.cli.command import Command
from plan.errors import CellbedError

MOST_NAMED = 4


@click.command(cls=Command, help=__doc__)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, readable=False))
@click.argument(
    "shards", metavar="SHARD...", nargs=-1, required=True,
    type=click.Path(path_type=Path, readable=False),
)  # fmt: skip
def command(folder: Path, shards: tuple[Path, ...]) -> None:
    found = merge(folder, shards)
    click.echo(
        f"{folder}: {found.copied} records copied, {found.there} were there before, "
        f"{len(found.missing)} trials have no record yet"
    )
    if found.older:
        click.echo(
            f"{found.older} records there are of other settings or software, and do not count"
        )
    if found.refused or (found.no_shards and found.missing):
        raise CellbedError(refusals(found))
    for reason in found.no_shards:
        click.echo(f"Left out: {reason}", err=True)
    if found.missing:
        click.echo(f"Next: run {shards_left(found)}, and merge again.", err=True)
    else:
        click.echo(f"Next: ./cellbed report {shlex.quote(str(folder))} writes a report.", err=True)


def refusals(found: Merged) -> str:
    """What was not taken, and what to do about it."""
    reasons = [*found.refused, *found.no_shards]
    named = "; ".join(reasons[:MOST_NAMED])
    more = len(reasons) - MOST_NAMED
    others = f"; and {more} more" if more > 0 else ""
    again = f"remove what is damaged, run {shards_left(found)} again" if found.missing else (
        "remove the records that must not be there")  # fmt: skip
    return f"not all was taken: {named}{others}; {again}, and merge again"


def shards_left(found: Merged) -> str:
    """Which shards have trials without a record, as a job array takes their numbers."""
    if found.several_seeds:
        return "all shards with the same --seeds and --first-seed"
    if not found.unfinished:
        return "the other shards"
    left = unfinished.listed(found.unfinished)
    return f"shards {left} (with Slurm: sbatch --array={left})"
