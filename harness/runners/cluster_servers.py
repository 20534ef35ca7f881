# SPDX-License-Identifier: GPL-2.0-only
"""The two programs of a cluster: the scheduler, and a machine's worker."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, Worker

from harness.host import temporary
from harness.runners import cluster_tls
from harness.runners.cluster import CONNECT_S, quieten
from harness.runners.lab_pool import POOL
from harness.runners.options import Cluster
from plan.errors import CellbedError, UsageError

# Of Dask's own pages, a port that it insists on.
LOOPBACK = "127.0.0.1:0"

Say = Callable[[str], None]


def run_scheduler(host: str | None, port: int, secret: Path | None, say: Say) -> None:
    """Serve until Ctrl-C or SIGTERM; here only, or at `host` for who has the secret's file too."""
    path = secret or cluster_tls.default_file()
    security = cluster_tls.made(path)

    async def serve() -> None:
        async with Scheduler(
            host=host or "127.0.0.1",
            port=port,
            protocol="tls://",
            security=security,
            dashboard=False,
            dashboard_address=LOOPBACK,
        ) as scheduler:
            say(f"the scheduler listens at {scheduler.address}; Ctrl-C ends it")
            say(
                f"each worker needs a copy of {path.absolute()}; keep this file secret, since it"
                " lets a person use the cluster"
            )
            if host is None:
                say(
                    "only this machine can reach the scheduler; --host ADDRESS lets others reach it"
                )
            await until_signal(scheduler.finished())

    where = f"--host {host} --port {port}" if host else f"--port {port}"
    run_server(serve, lambda: f"{where}: the scheduler cannot listen there; choose another")


def run_worker(cluster: Cluster, host: str | None, labs: int, say: Say) -> None:
    """Work until Ctrl-C or SIGTERM, or until the scheduler is gone; leaves no lab."""
    address = cluster.address
    security = cluster_tls.security_for(address, cluster.secret)

    async def work() -> None:
        worker = await Worker(
            address,
            host=host,
            security=security,
            nthreads=labs,
            memory_limit=0,
            dashboard_address=LOOPBACK,
            death_timeout=CONNECT_S,
        )
        say(f"worker {worker.address} runs {labs} labs for {address}; Ctrl-C ends it")
        try:
            await until_signal(worker.finished())
        finally:
            # Gone before its labs, so that its trials go to others and none counts as failed.
            await worker.close(executor_wait=False)

    try:
        run_server(work, lambda: f"{address}: {cluster_tls.why_not(address, security)}")
    finally:
        POOL.end()


def run_server(serve: Callable[[], Coroutine[Any, Any, None]], refusal: Callable[[], str]) -> None:
    """Run a server, with a temporary directory that is gone afterwards."""
    quieten()
    with (
        temporary.folder("cluster") as folder,
        dask.config.set({"temporary-directory": str(folder)}),
    ):
        try:
            asyncio.run(serve())
        except (OSError, ValueError, TimeoutError, RuntimeError) as error:
            raise UsageError(refusal()) from error


async def until_signal(finished: Coroutine[Any, Any, Any]) -> None:
    """Until Ctrl-C or SIGTERM; CellbedError when the server ends by itself."""
    asked = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    ended, signalled = asyncio.ensure_future(finished), asyncio.ensure_future(asked.wait())
    await asyncio.wait([ended, signalled], return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    if not asked.is_set():
        raise CellbedError("the scheduler has ended")
    ended.cancel()
