# SPDX-License-Identifier: GPL-2.0-only
"""Compute the checks and figures of a campaign again, with the present code; run no trial.

The command prints the verdicts and figures that have changed. `run` and `report` do the same.
"""

from __future__ import annotations

from pathlib import Path

import click

from harness.api import judge
from harness.cli.command import Command
from plan.errors import CellbedError


@click.command(cls=Command, help=__doc__)
@click.argument("campaign", type=click.Path(path_type=Path))
def command(campaign: Path) -> None:
    found = judge(campaign)
    for line in found.lines():
        click.echo(line)
    if found.unreadable:
        first, *others = found.unreadable.values()
        for why in others:
            click.echo(why, err=True)
        raise CellbedError(f"{len(found.unreadable)} records cannot be read: {first}")
