# SPDX-License-Identifier: GPL-2.0-only
"""Reads a host's connections from the kernel by sock_diag(7), as `ss` does, without a process."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from topology import netlink

# linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
INFO, CONGESTION, MODULE = 2, 4, 3  # attributes; MODULE: INET_DIAG_VEGASINFO
STATE_ESTABLISHED = 1 << 1
# family, protocol, extensions, padding, states; then an empty inet_diag_sockid.
REQUEST = struct.Struct("=BBBxI48x")
DIAG_MESSAGE_BYTES = 72
PORTS = struct.Struct("!HH")
PORTS_OFFSET = 4
SSTHRESH_CWND = struct.Struct("=II")
SSTHRESH_OFFSET = 76
ACKED = struct.Struct("=Q")
ACKED_OFFSET = 120
PEER_WINDOW = struct.Struct("=I")
PEER_WINDOW_OFFSET = 228
# The report of our module (tcp-configs/module/cellbed.h): cwnd and MSS in bytes.
MODULE_NAME = b"cellbed_"
MODULE_CWND = struct.Struct("=4xI4xI")


@dataclass(frozen=True, slots=True)
class Connection:
    """An established connection, as the kernel counts it at its sender.

    Attributes:
        congestion: the name of its congestion control; "" if the kernel does not tell it.
        cwnd_segments: the congestion window. For a connection of our module, it is the module's own
            window in whole segments, or None if the module does not tell it. (Its tcp_info has the
            amount that the kernel may send at the moment, and not the window.)
    """

    ports: tuple[int, int]
    congestion: str
    acked_bytes: int
    cwnd_segments: int | None
    ssthresh_segments: int
    peer_window_bytes: int


def connections(diag: socket.socket) -> Iterator[Connection]:
    """Yield each established connection of a namespace."""
    wanted = sum(1 << (attribute - 1) for attribute in (INFO, CONGESTION, MODULE))
    body = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, wanted, STATE_ESTABLISHED)
    for message in netlink.dump(diag, SOCK_DIAG_BY_FAMILY, body):
        found = dict(netlink.attributes(message, DIAG_MESSAGE_BYTES))
        if INFO in found:  # a socket that is about to close has none
            yield connection(PORTS.unpack_from(message, PORTS_OFFSET), found)


def connection(ports: tuple[int, int], found: Mapping[int, bytes]) -> Connection:
    """Return a connection from its own port, its peer's port, and the attributes of its message."""
    info, congestion = found[INFO], found.get(CONGESTION, b"").rstrip(b"\0")
    ssthresh, cwnd = SSTHRESH_CWND.unpack_from(info, SSTHRESH_OFFSET)
    if congestion.startswith(MODULE_NAME):
        cwnd = own_window(found.get(MODULE))
    return Connection(
        ports=ports,
        congestion=congestion.decode(),
        acked_bytes=ACKED.unpack_from(info, ACKED_OFFSET)[0],
        cwnd_segments=cwnd,
        ssthresh_segments=ssthresh,
        peer_window_bytes=PEER_WINDOW.unpack_from(info, PEER_WINDOW_OFFSET)[0],
    )


def own_window(told: bytes | None) -> int | None:
    """Return the congestion window that our module tells [segments]."""
    if told is None:
        return None
    cwnd_bytes, mss_bytes = MODULE_CWND.unpack_from(told)
    return int(cwnd_bytes // mss_bytes)


def of_host(pid: int) -> list[Connection]:
    """Return the established connections in the network namespace of a process."""
    with closing(netlink.open_in(pid, NETLINK_SOCK_DIAG)) as diag:
        return list(connections(diag))


def with_cwnd(shown: str, found: Iterable[Connection]) -> str:
    """Return the output of `ss` with the congestion window as the cwnd of each connection."""
    known = {one.ports: one.cwnd_segments for one in found}
    return "\n".join(_with_cwnd(line, known) for line in shown.splitlines())


def _with_cwnd(line: str, known: Mapping[tuple[int, int], int | None]) -> str:
    local, peer = (int(end.rpartition(":")[2]) for end in line.split()[2:4])
    cwnd = known.get((local, peer))
    return re.sub(r" cwnd:\d+", "" if cwnd is None else f" cwnd:{cwnd}", line)
