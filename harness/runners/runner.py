# SPDX-License-Identifier: GPL-2.0-only
"""Where a campaign's trials run: threads of this process, or the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from harness.design.trials import PlannedTrial
from harness.events import Listener
from harness.runners.lab_pool import Outcome
from plan.errors import MissingError


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A Dask cluster that somebody runs.

    Attributes:
        address: tls://HOST:PORT, or tcp://HOST:PORT of one that takes anybody.
        secret: the file that lets one in; None: where ./cellbed scheduler puts it.
    """

    address: str
    secret: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a campaign is run.

    Attributes:
        lab, clock: which lab, and its clock.
        jobs: labs at a time on this machine.
        cluster: whose workers have the labs; None: this machine.
    """

    lab: str = "uml"
    clock: str = "virtual"
    jobs: int = 2
    cluster: Cluster | None = None


class Runner(Protocol):
    """Takes trials and gives their outcomes."""

    def submit(self, trial: PlannedTrial) -> None:
        """One more trial, behind those already submitted."""

    def outcomes(self) -> Iterator[tuple[PlannedTrial, Outcome]]:
        """Each trial with its outcome as soon as there is one, until none is left.

        Raises:
            CellbedError: nothing that trying again could mend.
        """


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
        raise MissingError("many machines need Dask: ./cellbed setup --cluster")
