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
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from topology.build import Network
from topology.run import in_namespace

COLUMNS = ("time_ns", "pair", "cwnd_segments", "ssthresh_segments")

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
INET_DIAG_INFO = 2
STATE_ESTABLISHED = 1 << 1
NLMSG_HEADER = struct.Struct("=IHHII")
ATTRIBUTE = struct.Struct("=HH")
# family, protocol, extensions, padding, states; then an empty inet_diag_sockid.
REQUEST = struct.Struct("=BBBxI48x")
DIAG_MESSAGE_BYTES = 72
SSTHRESH_CWND = struct.Struct("=II")
SSTHRESH_OFFSET = 76
ACKED = struct.Struct("=Q")
ACKED_OFFSET = 120
RECEIVE_BYTES = 1 << 16


class Windows:
    """Writes cwnd.csv for the duration of a `with`, a row a sample and pair."""

    def __init__(self, network: Network, plan: dict[str, Any], folder: Path) -> None:
        record = plan["record"]
        self.period_ns: int = record["cwnd_sample_ns"]
        self.path = folder / "cwnd.csv"
        pairs = record["cwnd_pairs"] if self.period_ns else []
        self._sockets = {pair: diag_socket(network.pids[f"s{pair}"]) for pair in pairs}
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
            flow = max(connections(one), default=None)
            if flow is not None:
                _, cwnd, ssthresh = flow
                yield pair, cwnd, ssthresh


def diag_socket(pid: int) -> socket.socket:
    """A sock_diag socket in the network namespace of a process; it stays there."""
    with in_namespace(pid):
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)


def connections(diag: socket.socket) -> Iterator[tuple[int, int, int]]:
    """Every established connection: bytes acknowledged, cwnd and ssthresh [segments]."""
    body = REQUEST.pack(
        socket.AF_INET, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), STATE_ESTABLISHED
    )
    size = NLMSG_HEADER.size + len(body)
    diag.send(NLMSG_HEADER.pack(size, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 0, 0) + body)
    while True:
        for kind, message in messages(diag.recv(RECEIVE_BYTES)):
            if kind == NLMSG_DONE:
                return
            if kind == NLMSG_ERROR:
                raise OSError(f"sock_diag: error {struct.unpack_from('=i', message)[0]}")
            yield from windows(message)


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The netlink messages of a datagram: type and body."""
    offset = 0
    while offset + NLMSG_HEADER.size <= len(data):
        size, kind, *_ = NLMSG_HEADER.unpack_from(data, offset)
        yield kind, data[offset + NLMSG_HEADER.size : offset + size]
        offset += aligned(size)


def windows(message: bytes) -> Iterator[tuple[int, int, int]]:
    """What tcp_info says in an inet_diag message; nothing for a socket that has none."""
    offset = DIAG_MESSAGE_BYTES
    while offset + ATTRIBUTE.size <= len(message):
        size, kind = ATTRIBUTE.unpack_from(message, offset)
        if kind == INET_DIAG_INFO:
            info = offset + ATTRIBUTE.size
            ssthresh, cwnd = SSTHRESH_CWND.unpack_from(message, info + SSTHRESH_OFFSET)
            (acked,) = ACKED.unpack_from(message, info + ACKED_OFFSET)
            yield acked, cwnd, ssthresh
        offset += aligned(size)


def aligned(size: int) -> int:
    """Netlink pads everything to 4 bytes."""
    return (size + 3) & ~3
