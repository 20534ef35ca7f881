# SPDX-License-Identifier: GPL-2.0-only
"""Remove the files that killed runs left behind."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.command import Command
from harness.machine.clean import remove_cache, remove_campaign, remove_leftovers
from plan.errors import CellbedError


@click.command(cls=Command, help=__doc__)
@click.option(
    "--cache", is_flag=True, help="Also remove the products of set-up (image, kernel, environment)."
)
@click.option(
    "--results", type=click.Path(path_type=Path), help="Also remove the campaign in this folder."
)
def command(cache: bool, results: Path | None) -> None:
    left = remove_leftovers()
    if cache:
        left.add(remove_cache())
    for what in left.removed:
        click.echo(f"removed {what}")
    if results is not None:
        remove_campaign(results)
        click.echo(f"removed {results}")
    if left.stayed:
        raise CellbedError("these could not be removed: " + "; ".join(left.stayed))
