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
ROOT = 0xFFFFFFFF
LOOPBACK = 1  # the index of lo, the first device of each namespace
ROUTE_METRICS, LOCK = 8, 1
# A route's metrics for TCP: window [bytes], rto_min [ms] (the kernel uses it only if it is locked),
# quickack [0, 1]; the others are segments.
METRICS: Mapping[str, int] = MappingProxyType(
    {"window": 3, "ssthresh": 6, "initcwnd": 11, "rto_min": 13, "initrwnd": 14, "quickack": 15}
)
NONE: Mapping[str, int] = MappingProxyType({})
REQUEST, ACKNOWLEDGE, REPLACE, EXCLUSIVE, CREATE = 0x1, 0x4, 0x100, 0x200, 0x400
NEW_LINK, UP = 16, 0x1
# One call must fit into a socket's buffer: a pair of devices has about 200 bytes.
REQUESTS_A_CALL = 500


class NetlinkError(RuntimeError):
    """The kernel refused a request; the text says which and why."""


@dataclass(frozen=True)
class Request:
    """One change: its description in words, its type, flags and body."""

    words: str
    kind: int
    flags: int
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Device:
    """An end of a pair of veth devices.

    Attributes:
        index: 0: the kernel chooses it.
        mac: "": the kernel draws it.
        pid: the process that holds its network namespace; None: the present namespace.
    """

    name: str
    index: int = 0
    mac: str = ""
    pid: int | None = None


def veth(device: Device, peer: Device, mtu_bytes: int) -> Request:
    """Return the request for a pair of veth devices. They send each segment as a packet."""
    end = LINK.pack(socket.AF_UNSPEC, 0, peer.index, 0, 0) + _device(peer, mtu_bytes)
    kind = attribute(1, b"veth\0") + attribute(2, attribute(1, end))
    body = LINK.pack(socket.AF_UNSPEC, 0, device.index, 0, 0) + _device(device, mtu_bytes)
    body += attribute(18, kind)
    return Request(f"link {device.name}", NEW_LINK, CREATE | EXCLUSIVE, body)


def _device(device: Device, mtu_bytes: int) -> bytes:
    body = attribute(3, device.name.encode() + b"\0") + attribute(4, u32(mtu_bytes))
    body += attribute(40, u32(1))  # the most segments that a packet holds
    if device.mac:
        body += attribute(1, bytes.fromhex(device.mac.replace(":", "")))
    return body if device.pid is None else body + attribute(19, u32(device.pid))


def link_up(index: int) -> Request:
    """Return the request that sets a link up."""
    return Request(f"link {index} up", NEW_LINK, 0, LINK.pack(socket.AF_UNSPEC, 0, index, UP, UP))


def named_up(name: str) -> Request:
    """Return the request that sets the link of a name up."""
    body = LINK.pack(socket.AF_UNSPEC, 0, 0, UP, UP) + attribute(3, name.encode() + b"\0")
    return Request(f"link {name} up", NEW_LINK, 0, body)


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
    return Request(f"link {index} mtu {size_bytes}", NEW_LINK, 0, body)


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
    for message in [*netlink.dump(link, 26, all_routes)]:  # to its end: the socket is used again
        _, _, _, _, in_table, *_ = ROUTE.unpack_from(message)
        found = dict(netlink.attributes(message, ROUTE.size))
        if in_table == table and found.get(1) == socket.inet_aton(target):
            values = netlink.attributes(found.get(ROUTE_METRICS, b""), 0)
            return {names[n]: struct.unpack("=I", value)[0] for n, value in values if n in names}
    return {}


def netem(index: int, limit: int, delay_ns: int, rate: bytes = b"") -> Request:
    """Return the request for netem at a link's root.

    rate: a struct tc_netem_rate; empty: a packet takes no time.
    """
    options = struct.pack("=6I", 0, limit, 0, 0, 0, 0)
    options += attribute(6, rate) if rate else b""
    options += attribute(10, struct.pack("=q", delay_ns))
    return at_root(index, "netem", options)


def fq(index: int, *, limit: int, flow_limit: int, horizon_s: int) -> Request:
    """Return the request for fq at a link's root: without TCP's pacing, and without tolerance.

    It drops a packet that is to leave later than the horizon.
    """
    numbers = {1: limit, 2: flow_limit, 5: 0, 13: 0, 14: horizon_s * 1_000_000}
    options = b"".join(attribute(kind, u32(value)) for kind, value in numbers.items())
    return at_root(index, "fq", options + attribute(15, b"\1"))


def at_root(index: int, kind: str, options: bytes) -> Request:
    """Return the request for a queueing discipline in place of the present one."""
    body = QDISC.pack(socket.AF_UNSPEC, index, 0, ROOT, 0)
    body += attribute(1, kind.encode() + b"\0") + attribute(2, options)
    return Request(f"{kind} at {index}", 36, CREATE | REPLACE, body)


def no_qdisc(index: int) -> Request:
    """Return the request that removes the queueing discipline at a link's root."""
    return Request(f"no qdisc at {index}", 37, 0, QDISC.pack(socket.AF_UNSPEC, index, 0, ROOT, 0))


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute of a request's body, padded to 4 bytes."""
    padding = -len(value) % 4
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(value), kind) + value + bytes(padding)


def apply(link: socket.socket, requests: Sequence[Request]) -> None:
    """Make the changes, in this order, in the network namespace of a socket of NETLINK_ROUTE.

    Raises:
        NetlinkError: the kernel refused at least one change; the text names the first. Others are
            made. Do not use the socket again: more answers may wait in it.
    """
    for begin in range(0, len(requests), REQUESTS_A_CALL):
        _apply_at_once(link, requests[begin : begin + REQUESTS_A_CALL])


def _apply_at_once(link: socket.socket, requests: Sequence[Request]) -> None:
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
