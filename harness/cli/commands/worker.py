# SPDX-License-Identifier: GPL-2.0-only
"""Start a worker: this machine runs labs for the scheduler at ADDRESS (docs/cluster.md)."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.command import Command
from harness.cli.options import tls_option
from harness.host.capacity import capacity
from harness.runners.options import Cluster
from harness.runners.runner import require_dask


@click.command(cls=Command, help=__doc__)
@click.argument("address")
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="The number of labs at a time [as many as fit]."
)
@click.option(
    "--host", help="The address at which the scheduler reaches this worker [found automatically]."
)
@tls_option
def command(address: str, jobs: int | None, host: str | None, tls: Path | None) -> None:
    require_dask()
    from harness.runners.cluster_servers import run_worker

    cluster = Cluster(address=address, secret=tls)
    run_worker(cluster, host, jobs or capacity().labs, click.echo)
