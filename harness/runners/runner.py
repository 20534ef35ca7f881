# SPDX-License-Identifier: GPL-2.0-only
"""Where a campaign's trials run: threads of this process, or the workers of a Dask scheduler."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

from harness.events import Listener
from harness.runners.options import Options, Runner
from plan.errors import MissingError


def runner(options: Options, records: Path, listener: Listener) -> AbstractContextManager[Runner]:
    """The runner that the options ask for; what it still does at the end of its `with` is ended.

    Args:
        records: the campaign's folder of records.
        listener: hears in other threads of trials that start and how far they are.

    Raises:
        MissingError: Dask is asked for and not installed.
        UsageError: no scheduler there that lets one in, no worker, or one that has other code.
    """
    if options.cluster is None:
        from harness.runners.local import local_runner

        return local_runner(options, records, listener)
    require_dask()
    from harness.runners.cluster import cluster_runner

    return cluster_runner(options.lab, options.clock, options.cluster, listener)


def require_dask() -> None:
    """Refuse where set-up has not installed what clusters need."""
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        raise MissingError("a cluster of machines needs Dask; run ./cellbed setup --cluster")
