# SPDX-License-Identifier: GPL-2.0-only
"""Records the congestion windows of chosen pairs' senders over time, in cwnd.csv.

One program takes all samples. It asks the kernel through sock_diag(7), as `ss` does. A namespace
has the connections of one host. The connection with the most acknowledged bytes is the pair's flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from harness.capture import MOST_PERIOD_MS, Programs, write_from_start
from plan.plan import Plan, Topology
from plan.queue import Queue
from plan.schema import Within, ZeroOr

PROGRAM = "/opt/cellbed/cwnd"
FILE = "cwnd.csv"
# For each sample, the kernel dumps a namespace's sockets, which takes time.
LEAST_MS = 0.1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The sampling period [ms], and the pairs to follow. It ignores pairs that do not exist."""

    cwnd_sample_ms: Annotated[
        float,
        ZeroOr(LEAST_MS, MOST_PERIOD_MS),
        "The time between two samples in cwnd.csv. With 0, the trial does not write this file.",
    ] = 0
    cwnd_pairs: Annotated[
        tuple[Annotated[int, Within(1)], ...],
        "The pairs whose servers are in cwnd.csv. If a server has several connections, each"
        " sample shows the connection with the most acknowledged bytes at this moment. So two"
        " samples can show two connections. Numbers of pairs that the network does not have are"
        " ignored.",
    ] = (1, 2, 3, 4)

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        followed = tuple(pair for pair in self.cwnd_pairs if pair <= topology.pairs)
        if self.cwnd_sample_ms and not followed:
            raise ValueError(f"record.cwnd_pairs: none of them is from 1 to {topology.pairs}")
        if self.cwnd_sample_ms and topology.layout().several_paths:
            raise ValueError(
                f"record.cwnd_sample_ms = {self.cwnd_sample_ms:g}: with topology.links_used = both"
                " it must be 0, because a server has several subflows"
            )
        period_ns = round(self.cwnd_sample_ms * 1e6)
        return Wanted(cwnd_sample_ns=period_ns, cwnd_pairs=followed)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan."""

    cwnd_sample_ns: int
    cwnd_pairs: tuple[int, ...]


class Capture(Programs[Wanted]):
    """Writes a row for each sample and pair, with topology/cwnd.c."""

    def commands(self) -> list[list[str]]:
        if not self.wanted.cwnd_sample_ns:
            return []
        senders = [f"{pair}:{self.site.pids[f's{pair}']}" for pair in self.wanted.cwnd_pairs]
        return [[PROGRAM, str(self.site.folder / FILE), str(self.wanted.cwnd_sample_ns), *senders]]

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        if (raw / FILE).exists():
            write_from_start(raw / FILE, t0_ns, folder / FILE)

    so_far = keep
