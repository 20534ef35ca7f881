# SPDX-License-Identifier: GPL-2.0-only
"""Follows the congestion windows of chosen pairs' senders, when a trial's plan asks for it.

The kernel is asked through sock_diag(7), as `ss` asks it, but without a process a sample:
one netlink socket in each sender's namespace, and a thread that looks at all of them. A
namespace holds one host's connections; the one that has had the most acknowledged is its flow.
"""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.agent import connections
from harness.agent.connections import NETLINK_SOCK_DIAG
from harness.plan import Recording
from topology import netlink
from topology.build import Network

COLUMNS = ("time_ns", "pair", "cwnd_segments", "ssthresh_segments")


class Windows:
    """Writes cwnd.csv for the duration of a `with`, a row a sample and pair."""

    def __init__(self, network: Network, record: Recording, folder: Path) -> None:
        self.period_ns = record.cwnd_sample_ns
        self.path = folder / "cwnd.csv"
        pairs = record.cwnd_pairs if self.period_ns else ()
        senders = {pair: network.pids[f"s{pair}"] for pair in pairs}
        self._sockets = {
            pair: netlink.open_in(pid, NETLINK_SOCK_DIAG)
            for pair, pid in senders.items()
        }
        self._end = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        if self._sockets:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._sockets:
            self._end.set()
            self._thread.join()
        for one in self._sockets.values():
            one.close()
        if self._failure is not None and error is None:
            raise RuntimeError(f"cwnd.csv: {self._failure}") from self._failure

    def _follow(self) -> None:
        try:
            with self.path.open("w", newline="", encoding="ascii") as stream:
                table = csv.writer(stream)
                table.writerow(COLUMNS)
                due_ns = time.monotonic_ns() // self.period_ns * self.period_ns
                while not self._end.wait((due_ns - time.monotonic_ns()) / 1e9):
                    table.writerows((due_ns, *row) for row in self._sample())
                    due_ns += self.period_ns
        except Exception as failure:  # noqa: BLE001 (raised where the trial ends)
            self._failure = failure

    def _sample(self) -> Iterator[tuple[int, int | None, int]]:
        for pair, one in self._sockets.items():
            found = connections.flow(one)
            if found is not None:
                yield pair, found.cwnd_segments, found.ssthresh_segments
