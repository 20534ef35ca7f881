# SPDX-License-Identifier: GPL-2.0-only
"""Start a Dask scheduler for campaigns on many machines (docs/cluster.md)."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.command import Command
from harness.cli.options import tls_option
from harness.runners.runner import require_dask


@click.command(cls=Command, help=__doc__)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8786,
    help="The port of the scheduler [8786; 0 takes a free port].",
)
@click.option("--host", help="The address at which workers reach it [only from this machine].")
@tls_option
def command(port: int, host: str | None, tls: Path | None) -> None:
    require_dask()
    from harness.runners.cluster_servers import run_scheduler

    run_scheduler(host, port, tls, click.echo)
