# SPDX-License-Identifier: GPL-2.0-only
"""Reads dumps over netlink. A dump of hundreds of namespaces must cost next to nothing.

pyroute2 starts an event loop and a thread for each socket, and it decodes each attribute into
objects. This module uses a plain socket and decodes only the wanted parts of a message.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from topology.run import in_namespace

# linux/netlink.h
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
HEADER = struct.Struct("=IHHII")
ATTRIBUTE = struct.Struct("=HH")
RECEIVE_BYTES = 1 << 16
# linux/rtnetlink.h, linux/if_link.h, linux/gen_stats.h
RTM_GETLINK, RTM_GETQDISC = 18, 38
IFLA_IFNAME, IFLA_MTU, IFLA_STATS64 = 3, 4, 23
IFINFOMSG = struct.Struct("=BxHiII")
# The first fields of struct rtnl_link_stats64.
LINK_STATS = struct.Struct("=16Q")
LINK_STATS_NAMES = """
rx_packets tx_packets rx_bytes tx_bytes rx_errors tx_errors rx_dropped tx_dropped multicast
collisions rx_length_errors rx_over_errors rx_crc_errors rx_frame_errors rx_fifo_errors
rx_missed_errors
""".split()
TCA_KIND, TCA_STATS2, QUEUE_STATS = 1, 7, 3
TCA_OPTIONS, NETEM_HEAD_BYTES, NETEM_LATENCY64 = 2, 24, 10  # the head: struct tc_netem_qopt
TC_H_ROOT = 0xFFFFFFFF
TCMSG = struct.Struct("=BxxxiIII")


def open_here(protocol: int = socket.NETLINK_ROUTE) -> socket.socket:
    """Open a netlink socket in the present network namespace; the socket stays in it."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)


def open_in(pid: int, protocol: int = socket.NETLINK_ROUTE) -> socket.socket:
    """Open a netlink socket in the network namespace of a process."""
    with in_namespace(pid):
        return open_here(protocol)


def dump(link: socket.socket, kind: int, body: bytes) -> Iterator[bytes]:
    """Yield the bodies of all messages that answer a dump request.

    Raises:
        OSError: the kernel refused; it has the error number.
    """
    link.send(HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST_DUMP, 0, 0) + body)
    while True:
        for answer, message in messages(link.recv(RECEIVE_BYTES)):
            if answer == NLMSG_DONE:
                return
            if answer == NLMSG_ERROR:
                raise OSError(-struct.unpack_from("=i", message)[0], "netlink")
            yield message


def links(link: socket.socket) -> Iterator[tuple[int, str, dict[str, int]]]:
    """Yield each device of a namespace: its index, its name, its counters by LINK_STATS_NAMES.

    `link` is of NETLINK_ROUTE.
    """
    for message in dump(link, RTM_GETLINK, IFINFOMSG.pack(0, 0, 0, 0, 0)):
        _, _, index, *_ = IFINFOMSG.unpack_from(message)
        name, stats = find(message, IFINFOMSG.size, IFLA_IFNAME, IFLA_STATS64)
        counted = LINK_STATS.unpack_from(stats)
        yield index, name.rstrip(b"\0").decode(), dict(zip(LINK_STATS_NAMES, counted, strict=True))


def mtus(link: socket.socket) -> Iterator[tuple[int, str, int]]:
    """Yield each device of a namespace: its index, its name, its MTU in bytes.

    `link` is of NETLINK_ROUTE.
    """
    for message in dump(link, RTM_GETLINK, IFINFOMSG.pack(0, 0, 0, 0, 0)):
        _, _, index, *_ = IFINFOMSG.unpack_from(message)
        name, mtu_bytes = find(message, IFINFOMSG.size, IFLA_IFNAME, IFLA_MTU)
        yield index, name.rstrip(b"\0").decode(), struct.unpack("=I", mtu_bytes)[0]


def qdiscs(link: socket.socket) -> Iterator[tuple[int, str, dict[int, bytes]]]:
    """Yield each queueing discipline of a namespace: its device's index, its kind, its statistics.

    `link` is of NETLINK_ROUTE. The statistics are attributes of linux/gen_stats.h.
    """
    for message in dump(link, RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0)):
        _, index, *_ = TCMSG.unpack_from(message)
        kind, stats = find(message, TCMSG.size, TCA_KIND, TCA_STATS2)
        yield index, kind.rstrip(b"\0").decode(), dict(attributes(stats, 0))


def netem_delays(link: socket.socket) -> Iterator[tuple[int, int]]:
    """Yield of each netem at the root of a device: the device's index, and the delay in ns.

    `link` is of NETLINK_ROUTE.
    """
    for message in dump(link, RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0)):
        _, index, _, parent, _ = TCMSG.unpack_from(message)
        if parent == TC_H_ROOT and find(message, TCMSG.size, TCA_KIND) == [b"netem\0"]:
            [options] = find(message, TCMSG.size, TCA_OPTIONS)
            [delay] = find(options, NETEM_HEAD_BYTES, NETEM_LATENCY64)
            yield index, struct.unpack("=q", delay)[0]


def find(message: bytes, offset: int, *kinds: int) -> list[bytes]:
    """Return the values of attributes of these types, from `offset` on; each must be there.

    It reads no further than the last of them: a link has 50 attributes.
    """
    found: dict[int, bytes] = {}
    for kind, value in attributes(message, offset):
        if kind in kinds:
            found[kind] = value
            if len(found) == len(kinds):
                break
    return [found[kind] for kind in kinds]


def attributes(message: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield type and value of each attribute of a message from `offset` on."""
    head, unpack, end = ATTRIBUTE.size, ATTRIBUTE.unpack_from, len(message) - ATTRIBUTE.size
    while offset <= end:
        size, kind = unpack(message, offset)
        yield kind, message[offset + head : offset + size]
        offset += (size + 3) & ~3  # netlink pads everything to 4 bytes


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each message that one call received."""
    offset = 0
    while offset + HEADER.size <= len(data):
        size, kind, *_ = HEADER.unpack_from(data, offset)
        yield kind, data[offset + HEADER.size : offset + size]
        offset += (size + 3) & ~3
