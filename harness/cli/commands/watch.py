# SPDX-License-Identifier: GPL-2.0-only
"""Show a live page of a campaign: its results as they come, its trials played again."""

from __future__ import annotations

import shlex
from pathlib import Path
from threading import Event

import click

from analysis.campaign_file import NAME as HEADER
from analysis.campaign_file import why_none
from harness.api.experiment import RESULTS
from harness.cli.command import Command
from harness.watch.server import serving
from plan.errors import UsageError


@click.command(cls=Command, help=__doc__)
@click.argument("campaign", required=False, type=click.Path(path_type=Path))
@click.option(
    "--port", default=0, type=click.IntRange(0, 65_535), help="The port of the page [a free port]."
)
def command(campaign: Path | None, port: int) -> None:
    folder = campaign or latest()
    if not folder.is_dir():
        raise UsageError(why_none(folder))
    with serving(folder, port) as server:
        click.echo(f"Open {server.url} to see {folder}. Press Ctrl-C to end the page.")
        if not (folder / HEADER).exists():
            click.echo(
                f"{folder} has no campaign yet. The page waits until "
                f"./cellbed run EXPERIMENT --out {shlex.quote(str(folder))} begins one."
            )
        Event().wait()


def latest() -> Path:
    """The campaign in results/ in which something happened last."""
    found = sorted(RESULTS.glob("*/campaign.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UsageError(f"{RESULTS} has no campaign; name the folder of a campaign")
    return found[-1].parent
