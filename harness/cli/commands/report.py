# SPDX-License-Identifier: GPL-2.0-only
"""Write the report of a campaign directory: HTML, Markdown, CSV."""

from __future__ import annotations

from pathlib import Path

import click

from analysis.errors import AnalysisError, ReportError
from analysis.records import read_campaign
from analysis.report import write_report
from harness.cli.judged import print_judged
from harness.errors import CellbedError, UsageError
from harness.judge import judgement, studies


@click.command(help=__doc__)
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder [CAMPAIGN/report].")
def command(campaign: Path, out: Path | None) -> None:
    print_judged(judgement.bring_up_to_date(judgement.records(campaign)))
    try:
        found = read_campaign(campaign)
        study = studies.find(found.study)
        written = write_report(found, study, out, lambda what: click.echo(what, err=True))
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    click.echo(f"{written.html}\n{written.markdown}\n{written.tables}")
