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
from harness.campaign.lock import NAME as LOCK
from harness.cli.command import Command
from harness.watch.server import serving
from plan.errors import UsageError

MOST_NAMED = 5


@click.command(cls=Command, help=__doc__)
@click.argument("campaign", required=False, type=click.Path(path_type=Path))
@click.option(
    "--port", default=0, type=click.IntRange(0, 65_535), help="The port of the page [a free port]."
)
def command(campaign: Path | None, port: int) -> None:
    folder = campaign or latest()
    if not folder.is_dir() or not (is_campaign(folder) or may_become_one(folder)):
        raise UsageError(why_not(folder))
    with serving(folder, port) as server:
        click.echo(f"Open {server.url} to see {folder}. Press Ctrl-C to end the page.")
        if not is_campaign(folder):
            click.echo(
                f"{folder} has no campaign yet. The page waits until "
                f"./cellbed run EXPERIMENT --out {shlex.quote(str(folder))} begins one."
            )
        Event().wait()


def is_campaign(folder: Path) -> bool:
    return (folder / HEADER).exists()


def may_become_one(folder: Path) -> bool:
    """Is it empty, or has ./cellbed run just begun there?"""
    return all(x.name == LOCK or x.name.startswith(f".{HEADER}.") for x in folder.iterdir())


def why_not(folder: Path) -> str:
    """Why a path has no page, in one sentence that names the campaigns of its sub-folders."""
    found = sorted(path.parent for path in folder.glob(f"*/{HEADER}"))
    if not found:
        return why_none(folder)
    if len(found) == 1:
        return f"{folder} holds the campaign {found[0].name}: name {shlex.quote(str(found[0]))}"
    names = ", ".join(path.name for path in found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return (
        f"{folder} holds the campaigns {names}{more}: name one of them, "
        f"such as {shlex.quote(str(found[0]))}"
    )


def latest() -> Path:
    """The campaign in results/ in which something happened last."""
    found = sorted(RESULTS.glob("*/campaign.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UsageError(f"{RESULTS} has no campaign; name the folder of a campaign")
    return found[-1].parent
