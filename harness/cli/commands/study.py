# SPDX-License-Identifier: GPL-2.0-only
"""List the studies; keep a campaign's results in one; fill the tables of its README."""

from __future__ import annotations

from pathlib import Path

import click

from analysis.errors import AnalysisError, ReportError
from analysis.records import read_campaign
from analysis.report.keep import keep as keep_results
from analysis.report.readme import with_tables
from harness.host import checkout
from harness.judge import judgement, studies
from plan.errors import CellbedError, UsageError


@click.group(help=__doc__, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        for name in studies.known():
            study = studies.find(name)
            click.echo(f"{name:<16} {study.source:<12} {study.title}")


@command.command()
@click.argument("campaign", type=click.Path(path_type=Path))
def keep(campaign: Path) -> None:
    """Keep the results of a campaign directory in its study's folder."""
    judgement.bring_up_to_date(judgement.records(campaign))
    try:
        found = read_campaign(campaign)
        if found.study is None:
            raise UsageError(f"{campaign}: its experiment names no study")
        study = studies.find(found.study)
        folder = studies.folder(study.id)
        click.echo(keep_results(found, study, folder, checkout.commit()))
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error


@command.command()
@click.argument("name", metavar="ID")
@click.option("--check", is_flag=True, help="Write nothing; fail if a table would change.")
def tables(name: str, check: bool) -> None:
    """Write the tables of a study's README from the results that it keeps."""
    folder = studies.folder(studies.find(name).id)
    path = folder / "README.md"
    try:
        text = with_tables(studies.find(name), folder)
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    if check and text != path.read_text(encoding="utf-8"):
        raise CellbedError(f"{path}: its tables are not those of its kept results")
    if not check:
        path.write_text(text, encoding="utf-8")
