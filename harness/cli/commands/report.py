# SPDX-License-Identifier: GPL-2.0-only
"""Write the report of a campaign: HTML, Markdown, CSV."""

from __future__ import annotations

from pathlib import Path

import click

from harness.api import Campaign
from harness.cli.command import Command
from harness.cli.judged import print_judged


@click.command(cls=Command, help=__doc__)
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder for the report [CAMPAIGN/report]."
)
def command(campaign: Path, out: Path | None) -> None:
    found = Campaign(campaign)
    print_judged(found.judged)
    from analysis.report.standing import standing  # the plots' libraries are slow to load

    stands = standing(found.records)
    if stands.under_way or not stands.whole:
        click.echo(f"{campaign}: {stands.sentence()}", err=True)
    written = found.report(out, lambda what: click.echo(f"report: {what}", err=True))
    click.echo(f"{written.html}\n{written.markdown}\n{written.tables}")
