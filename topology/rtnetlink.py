# SPDX-License-Identifier: GPL-2.0-only
"""Changes settings of a network namespace over rtnetlink, many in one system call.

A process of `ip` costs 20 ms under User-Mode Linux, whatever it does; 200 hosts would need 400
processes. Layouts and numbers are those of linux/netlink.h, rtnetlink.h, if_link.h, if_addr.h,
neighbour.h, fib_rules.h and pkt_sched.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from topology import netlink
from topology.netlink import ATTRIBUTE, HEADER, RECEIVE_BYTES

LINK = struct.Struct("=BxHiII")
ADDRESS = struct.Struct("=BBBBI")
NEIGHBOUR = struct.Struct("=BxxxiHBB")
ROUTE = struct.Struct("=BBBBBBBBI")
QDISC = struct.Struct("=BxxxiIII")
MAIN_TABLE = 254
LOOPBACK = 1  # the index of lo, the first device of each namespace
ROUTE_METRICS, LOCK = 8, 1
# A route's metrics for TCP: window [bytes], rto_min [ms] (the kernel uses it only if it is locked),
# quickack [0, 1]; the others are segments.
METRICS: Mapping[str, int] = MappingProxyType(
    {"window": 3, "ssthresh": 6, "initcwnd": 11, "rto_min": 13, "initrwnd": 14, "quickack": 15}
)
NONE: Mapping[str, int] = MappingProxyType({})
REQUEST, ACKNOWLEDGE, REPLACE, EXCLUSIVE, CREATE = 0x1, 0x4, 0x100, 0x200, 0x400


class NetlinkError(RuntimeError):
    """The kernel refused a request; the text says which and why."""


@dataclass(frozen=True)
class Request:
    """One change: its description in words, its type, flags and body."""

    words: str
    kind: int
    flags: int
    body: bytes


def link_up(index: int) -> Request:
    """Return the request that sets a link up."""
    up = 0x1
    return Request(f"link {index} up", 16, 0, LINK.pack(socket.AF_UNSPEC, 0, index, up, up))


def address(index: int, ip: str, prefix: int) -> Request:
    """Return the request that gives a link an IPv4 address without a route."""
    no_prefix_route = 0x200
    packed = socket.inet_aton(ip)
    body = ADDRESS.pack(socket.AF_INET, prefix, 0, 0, index)
    body += attribute(1, packed) + attribute(2, packed) + attribute(8, u32(no_prefix_route))
    return Request(f"address {ip}", 20, CREATE | EXCLUSIVE, body)


def neighbour(index: int, ip: str, mac: str) -> Request:
    """Return the request for a neighbour with a fixed Ethernet address."""
    permanent = 0x80
    body = NEIGHBOUR.pack(socket.AF_INET, index, permanent, 0, 0)
    body += attribute(1, socket.inet_aton(ip))
    body += attribute(2, bytes.fromhex(mac.replace(":", "")))
    return Request(f"neighbour {ip}", 28, CREATE | REPLACE, body)


def mtu(index: int, size_bytes: int) -> Request:
    """Return the request that sets a link's MTU."""
    body = LINK.pack(socket.AF_UNSPEC, 0, index, 0, 0) + attribute(4, u32(size_bytes))
    return Request(f"link {index} mtu {size_bytes}", 16, 0, body)


def rule_from(source: str, table: int) -> Request:
    """Return the request of `ip rule add from SOURCE/32 table TABLE`."""
    to_table = 1
    body = ROUTE.pack(socket.AF_INET, 0, 32, 0, table, 0, 0, to_table, 0)
    body += attribute(2, socket.inet_aton(source)) + attribute(15, u32(table))
    return Request(f"rule from {source}", 32, CREATE | EXCLUSIVE, body)


def route(
    index: int,
    target: str,
    source: str,
    metrics: Mapping[str, int] = NONE,
    table: int = MAIN_TABLE,
) -> Request:
    """Return the request of `ip route replace TARGET/32 dev .. src SOURCE`: the route to one host.

    metrics: name in METRICS -> value in the kernel's units; 0 is the same as an absent metric.
    """
    boot, on_link, unicast = 3, 253, 1
    body = ROUTE.pack(socket.AF_INET, 32, 0, 0, table, boot, on_link, unicast, 0)
    body += attribute(1, socket.inet_aton(target)) + attribute(4, u32(index))
    body += attribute(7, socket.inet_aton(source))
    values = {METRICS[name]: value for name, value in metrics.items() if value}
    if METRICS["rto_min"] in values:
        values[LOCK] = 1 << METRICS["rto_min"]
    if values:
        body += attribute(ROUTE_METRICS, b"".join(attribute(n, u32(values[n])) for n in values))
    return Request(f"route {target}", 24, CREATE | REPLACE, body)


def route_metrics(link: socket.socket, target: str, table: int = MAIN_TABLE) -> dict[str, int]:
    """Return the metrics of a table's route to one host; empty if there is no such route."""
    names = {number: name for name, number in METRICS.items()}
    all_routes = ROUTE.pack(socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0)
    for message in netlink.dump(link, 26, all_routes):
        _, _, _, _, in_table, *_ = ROUTE.unpack_from(message)
        found = dict(netlink.attributes(message, ROUTE.size))
        if in_table == table and found.get(1) == socket.inet_aton(target):
            values = netlink.attributes(found.get(ROUTE_METRICS, b""), 0)
            return {names[n]: struct.unpack("=I", value)[0] for n, value in values if n in names}
    return {}


def netem(index: int, limit: int, delay_ns: int, rate: bytes) -> Request:
    """Return the request for netem at a link's root; `rate` is a struct tc_netem_rate."""
    root = 0xFFFFFFFF
    options = struct.pack("=6I", 0, limit, 0, 0, 0, 0)
    options += attribute(6, rate) + attribute(10, struct.pack("=q", delay_ns))
    body = QDISC.pack(socket.AF_UNSPEC, index, 0, root, 0)
    body += attribute(1, b"netem\0") + attribute(2, options)
    return Request(f"netem at {index}", 36, CREATE | REPLACE, body)


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute of a request's body, padded to 4 bytes."""
    padding = -len(value) % 4
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(value), kind) + value + bytes(padding)


def apply(link: socket.socket, requests: Sequence[Request]) -> None:
    """Make the changes, in this order, in the network namespace of a socket of NETLINK_ROUTE.

    Raises:
        NetlinkError: the kernel refused at least one change; the text names the first. All other
            changes are made. Do not use the socket again: more answers may wait in it.
    """
    last = len(requests) - 1
    data = b"".join(_message(r, n, ask=n == last) for n, r in enumerate(requests))
    link.send(data)
    number, error = _first_answer(link.recv(RECEIVE_BYTES))
    if error:
        raise NetlinkError(f"the kernel refused {requests[number].words}: {os.strerror(error)}")


def _message(request: Request, number: int, *, ask: bool) -> bytes:
    """Return a message. The kernel always answers a refusal, but a success only if `ask`."""
    size = HEADER.size + len(request.body)
    flags = REQUEST | request.flags | (ACKNOWLEDGE if ask else 0)
    return HEADER.pack(size, request.kind, flags, number, 0) + request.body


def _first_answer(data: bytes) -> tuple[int, int]:
    """Return the number of the answered request, and the error; 0 for no error."""
    _, _, _, number, _ = HEADER.unpack_from(data)
    (error,) = struct.unpack_from("=i", data, HEADER.size)
    return number, -error


def u32(value: int) -> bytes:
    """Return a number in the form of an attribute."""
    return struct.pack("=I", value)
