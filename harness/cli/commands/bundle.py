# SPDX-License-Identifier: GPL-2.0-only
"""Write the campaign in DIR and a release into one archive, by which others repeat the trials.

The archive needs no network and no other file: an artifact of a paper, with a DOI. It has the
experiment, the records, checksums, a citation, and the script ./repeat, which runs a trial again
and compares each byte.
"""

from __future__ import annotations

from pathlib import Path

import click

from harness.api.bundle import bundle
from harness.cli.archive import described
from harness.cli.archive import folder as made
from harness.cli.command import Command
from harness.host import paths
from plan.errors import UsageError


@click.command(cls=Command, help=__doc__)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--release", type=click.Path(path_type=Path), required=True,
    help="The archive that ./cellbed release has made of this project.",
)  # fmt: skip
@click.option(
    "--citation", type=click.Path(path_type=Path), default=paths.PROJECT / "CITATION.cff",
    help="The file CITATION.cff of your work [the citation of cellbed].",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path(),
    help="The folder that gets the archive [the current folder].",
)  # fmt: skip
def command(folder: Path, release: Path, citation: Path, out: Path) -> None:
    for name, file in (("--release", release), ("--citation", citation)):
        if not file.is_file():
            raise UsageError(f"{name} {file} is not a file")
    click.echo(described(bundle(folder, release, citation, made(out))))
