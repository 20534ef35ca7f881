# SPDX-License-Identifier: GPL-2.0-only
"""How a campaign is run, and what every runner does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.design.trials import PlannedTrial
from harness.runners.lab_pool import Outcome


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
        gdb: where gdb stops the kernels of the labs; empty: there is none.
    """

    lab: str = "uml"
    clock: str = "virtual"
    jobs: int = 2
    cluster: Cluster | None = None
    gdb: str = ""


class Runner(Protocol):
    """Takes trials and gives their outcomes."""

    def submit(self, trial: PlannedTrial) -> None:
        """One more trial, behind those already submitted."""

    def outcomes(self) -> Iterator[tuple[PlannedTrial, Outcome]]:
        """Each trial with its outcome as soon as there is one, until none is left.

        Raises:
            CellbedError: nothing that trying again could mend.
        """
