# SPDX-License-Identifier: GPL-2.0-only
"""Write the trials of a campaign in the format of another program: Flent, Wireshark and others."""

from __future__ import annotations

from pathlib import Path

import click

from analysis.exports import formats, left_out
from harness.api import Campaign
from harness.cli.command import Command
from harness.cli.judged import print_judged


@click.command(cls=Command, help=__doc__)
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--as", "kind", required=True, type=click.Choice(formats()), help="The format.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder for the files [CAMPAIGN/export-FORMAT].",
)
def command(campaign: Path, kind: str, out: Path | None) -> None:
    found = Campaign(campaign)
    print_judged(found.judged)
    for path in found.export(kind, out):
        click.echo(path)
    for said in left_out(found.records, kind):
        click.echo(said, err=True)
