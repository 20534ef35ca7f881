# SPDX-License-Identifier: GPL-2.0-only
"""Reads a host's TCP connections with their addresses: of MPTCP each subflow is one (RFC 8684).

It asks by sock_diag(7), as topology/connections.py does.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from topology import connections, netlink
from topology.connections import INFO, NETLINK_SOCK_DIAG, PORTS, PORTS_OFFSET, REQUEST

STATE_OFFSET = 1
UNACKNOWLEDGED_OFFSET = 60  # idiag_wqueue
ADDRESSES = struct.Struct("4s12x4s")
ADDRESSES_OFFSET = 8
# include/net/tcp_states.h
ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT = 1, 4, 5, 8
STATES = sum(1 << state for state in (ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT))
# struct tcp_info of linux/tcp.h
SRTT, RETRANSMITS, SEGMENTS_IN = ((at, struct.Struct("=I")) for at in (68, 100, 140))
RECEIVED, RETRANSMITTED = ((at, struct.Struct("=Q")) for at in (128, 208))
TIMEOUTS = (240, struct.Struct("=H"))  # since Linux 6.7


@dataclass(frozen=True, slots=True)
class Subflow:
    """A connection of TCP, or a subflow of MPTCP.

    Attributes:
        received_bytes: payload in its order. segments_in: all segments that came.
        retransmits: segments sent again; retransmitted_bytes: their payload.
        queued_bytes: what the program has given to the socket and the peer has not acknowledged.
        timeouts: None: this kernel does not count them.
        cwnd_segments: None if the TCP module does not tell it.
    """

    local_ip: str
    peer_ip: str
    received_bytes: int
    segments_in: int
    retransmits: int
    retransmitted_bytes: int
    queued_bytes: int
    timeouts: int | None
    cwnd_segments: int | None
    ssthresh_segments: int
    srtt_us: int
    peer_window_bytes: int


def of_host(pid: int) -> list[Subflow]:
    """Return the connections in the network namespace of a process that are not yet closed."""
    with closing(netlink.open_in(pid, NETLINK_SOCK_DIAG)) as diag:
        return list(subflows(diag))


def subflows(diag: socket.socket) -> Iterator[Subflow]:
    """Yield each connection of a namespace that is not yet closed."""
    wanted = sum(1 << (kind - 1) for kind in (INFO, connections.CONGESTION, connections.MODULE))
    body = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, wanted, STATES)
    for message in netlink.dump(diag, connections.SOCK_DIAG_BY_FAMILY, body):
        found = dict(netlink.attributes(message, connections.DIAG_MESSAGE_BYTES))
        if INFO not in found:
            continue
        local, peer = ADDRESSES.unpack_from(message, ADDRESSES_OFFSET)
        known = connections.connection(PORTS.unpack_from(message, PORTS_OFFSET), found)
        info = found[INFO]
        yield Subflow(
            local_ip=socket.inet_ntoa(local),
            peer_ip=socket.inet_ntoa(peer),
            # The kernel counts a FIN as a byte.
            received_bytes=value(info, RECEIVED) - (message[STATE_OFFSET] == CLOSE_WAIT),
            segments_in=value(info, SEGMENTS_IN),
            retransmits=value(info, RETRANSMITS),
            retransmitted_bytes=value(info, RETRANSMITTED),
            queued_bytes=connections.PEER_WINDOW.unpack_from(message, UNACKNOWLEDGED_OFFSET)[0],
            timeouts=value(info, TIMEOUTS) if len(info) > TIMEOUTS[0] else None,
            cwnd_segments=known.cwnd_segments,
            ssthresh_segments=known.ssthresh_segments,
            srtt_us=value(info, SRTT),
            peer_window_bytes=known.peer_window_bytes,
        )


def value(info: bytes, field: tuple[int, struct.Struct]) -> int:
    """Return a field of struct tcp_info, by its offset and its form."""
    offset, form = field
    return int(form.unpack_from(info, offset)[0])
