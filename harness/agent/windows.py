# SPDX-License-Identifier: GPL-2.0-only
"""Follows the congestion windows of chosen pairs' senders, when a trial's plan asks for it.

The kernel is asked through sock_diag(7), as `ss` asks it, but without a process a sample:
one netlink socket in each sender's namespace, and a thread that looks at all of them. A
namespace holds one host's connections; the one that has had the most acknowledged is its flow.
"""

from __future__ import annotations

import csv
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.agent import netlink
from topology.build import Network

COLUMNS = ("time_ns", "pair", "cwnd_segments", "ssthresh_segments")

# linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
INFO, CONGESTION, MODULE = 2, 4, 3  # attributes; MODULE: INET_DIAG_VEGASINFO
STATE_ESTABLISHED = 1 << 1
# family, protocol, extensions, padding, states; then an empty inet_diag_sockid.
REQUEST = struct.Struct("=BBBxI48x")
DIAG_MESSAGE_BYTES = 72
SSTHRESH_CWND = struct.Struct("=II")
SSTHRESH_OFFSET = 76
ACKED = struct.Struct("=Q")
ACKED_OFFSET = 120
PEER_WINDOW = struct.Struct("=I")
PEER_WINDOW_OFFSET = 228
# What our module says of itself (tcp-configs/module/cellbed.h): cwnd and MSS in bytes.
MODULE_NAME = b"cellbed_"
MODULE_CWND = struct.Struct("=4xI4xI")


@dataclass(frozen=True, slots=True)
class Connection:
    """An established connection, as the kernel counts it at its sender.

    cwnd_segments is the congestion window: of our module's connections the module's own, in
    whole segments. Its tcp_info has what the kernel is let send at the moment instead.
    """

    acked_bytes: int
    cwnd_segments: int
    ssthresh_segments: int
    peer_window_bytes: int


class Windows:
    """Writes cwnd.csv for the duration of a `with`, a row a sample and pair."""

    def __init__(self, network: Network, plan: dict[str, Any], folder: Path) -> None:
        record = plan["record"]
        self.period_ns: int = record["cwnd_sample_ns"]
        self.path = folder / "cwnd.csv"
        pairs = record["cwnd_pairs"] if self.period_ns else []
        senders = {pair: network.pids[f"s{pair}"] for pair in pairs}
        self._sockets = {
            pair: netlink.open_in(pid, NETLINK_SOCK_DIAG) for pair, pid in senders.items()
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

    def _sample(self) -> Iterator[tuple[int, int, int]]:
        for pair, one in self._sockets.items():
            found = flow(one)
            if found is not None:
                yield pair, found.cwnd_segments, found.ssthresh_segments


def connections(diag: socket.socket) -> Iterator[Connection]:
    """Every established connection of a namespace."""
    wanted = sum(1 << (attribute - 1) for attribute in (INFO, CONGESTION, MODULE))
    body = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, wanted, STATE_ESTABLISHED)
    for message in netlink.dump(diag, SOCK_DIAG_BY_FAMILY, body):
        found = dict(netlink.attributes(message, DIAG_MESSAGE_BYTES))
        if INFO in found:  # a socket that is about to end has none
            yield connection(found)


def connection(found: Mapping[int, bytes]) -> Connection:
    """A connection from the attributes of its inet_diag message."""
    info = found[INFO]
    ssthresh, cwnd = SSTHRESH_CWND.unpack_from(info, SSTHRESH_OFFSET)
    if MODULE in found and found.get(CONGESTION, b"").startswith(MODULE_NAME):
        cwnd_bytes, mss_bytes = MODULE_CWND.unpack_from(found[MODULE])
        cwnd = cwnd_bytes // mss_bytes
    return Connection(
        acked_bytes=ACKED.unpack_from(info, ACKED_OFFSET)[0],
        cwnd_segments=cwnd,
        ssthresh_segments=ssthresh,
        peer_window_bytes=PEER_WINDOW.unpack_from(info, PEER_WINDOW_OFFSET)[0],
    )


def flow(diag: socket.socket) -> Connection | None:
    """The connection of a namespace that has had the most acknowledged: its host's flow."""
    return max(connections(diag), key=lambda one: one.acked_bytes, default=None)
