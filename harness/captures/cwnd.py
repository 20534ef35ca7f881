# SPDX-License-Identifier: GPL-2.0-only
"""Congestion windows over time of chosen pairs' senders, in cwnd.csv.

The kernel is asked through sock_diag(7), as `ss` asks it, but without a process a sample:
one netlink socket in each sender's namespace. A namespace holds one host's connections; the one
that has had the most acknowledged is its flow.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from harness.capture import Series, check_period
from harness.plan import Topology
from topology import connections, netlink
from topology.queue import Queue

# A sample is a dump of a namespace's sockets.
LEAST_MS = 0.1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The grain [ms], and the pairs to follow; those that the topology lacks are left out."""

    cwnd_sample_ms: float = 0
    cwnd_pairs: tuple[int, ...] = (1, 2, 3, 4)

    def __post_init__(self) -> None:
        check_period("cwnd_sample_ms", self.cwnd_sample_ms, LEAST_MS)
        if any(pair < 1 for pair in self.cwnd_pairs):
            raise ValueError(f"record.cwnd_pairs = {list(self.cwnd_pairs)}: pairs, from 1")

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        followed = tuple(pair for pair in self.cwnd_pairs if pair <= topology.pairs)
        if self.cwnd_sample_ms and not followed:
            raise ValueError(f"record.cwnd_pairs: none of them is from 1 to {topology.pairs}")
        period_ns = round(self.cwnd_sample_ms * 1e6)
        return Wanted(cwnd_sample_ns=period_ns, cwnd_pairs=followed)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """In the plan."""

    cwnd_sample_ns: int
    cwnd_pairs: tuple[int, ...]


class Capture(Series[Wanted]):
    """A row a sample and pair."""

    file = "cwnd.csv"
    columns = ("pair", "cwnd_segments", "ssthresh_segments")

    @property
    def period_ns(self) -> int:
        return self.wanted.cwnd_sample_ns

    @contextmanager
    def opened(self) -> Iterator[None]:
        with ExitStack() as until_end:
            self._senders: dict[int, socket.socket] = {
                pair: until_end.enter_context(
                    closing(
                        netlink.open_in(self.site.pids[f"s{pair}"], connections.NETLINK_SOCK_DIAG)
                    )
                )
                for pair in self.wanted.cwnd_pairs
            }
            yield

    def rows(self) -> Iterator[tuple[int, int | None, int]]:
        for pair, sender in self._senders.items():
            found = connections.flow(sender)
            if found is not None:
                yield pair, found.cwnd_segments, found.ssthresh_segments
