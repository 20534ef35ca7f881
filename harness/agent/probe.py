# SPDX-License-Identifier: GPL-2.0-only
"""Looks at the running network: idle round trip, packets on every port."""

from __future__ import annotations

import math
import re
import socket
import struct
from collections.abc import Sequence
from typing import Any

from plan.atm import ETHERNET_HEADER_BYTES
from plan.layout import Host, Layout, Wait
from topology import netlink
from topology.build import Network
from topology.clock import whole_second
from topology.run import TIMEOUT_S, in_namespace, run

PING_PAYLOAD_BYTES = 56
PING_IP_BYTES = PING_PAYLOAD_BYTES + 28
PINGS = 3
# How much longer than the path's round trip an answer is waited for.
PATIENCE_S = 10
MOST_LINGER_S = 2000
# Few enough that no queue drops one.
TRAIN_PACKETS = 5
TRAIN_PORT = 9
UDP_IP_HEADER_BYTES = 28
SO_TIMESTAMPNS = 35  # linux/socket.h
LOST = ("dropped", "errors")
TIMESPEC = struct.Struct("=qq")

# port -> [received packets, sent packets, dropped], or of bytes [received, sent]
Counters = dict[str, list[int]]


def idle_round_trip(
    network: Network, layout: Layout, pairs: Sequence[int] | None = None
) -> list[float]:
    """Round trips [ns] of pings from the first and the last client of a route, which is idle.

    Each on a whole second: ping rounds its times, and so they are rounded alike.

    Args:
        pairs: those of the route; None: all have the same.
    """
    times: list[float] = []
    wait_s = idle_round_trip_s(layout) + PATIENCE_S
    clients = [host for host in layout.clients() if pairs is None or host.pair in pairs]
    for host in (clients[0], clients[-1]):
        for _ in range(PINGS):
            whole_second()
            with in_namespace(network.pids[host.name]):
                argv = ping_argv(host.peer_ip, wait_s)
                argv += [] if host.is_first else ["-I", host.ip]
                said = run(argv, limit_s=TIMEOUT_S + wait_s)
                times += microseconds(said)
    return times


def ping_argv(address: str, wait_s: float) -> list[str]:
    """One ping, whose answer is waited for. -W counts microseconds in 32 bits, -w whole seconds.

    With -w, ping would send again after a second if it had no other interval. Without -4, it also
    asks for a socket of IPv6, and each time the lab's kernel runs modprobe for it.
    """
    seconds = str(math.ceil(wait_s))
    short = wait_s < MOST_LINGER_S
    words = ["-W", f"{wait_s:.3f}"] if short else ["-w", seconds, "-i", seconds]
    return ["ping", "-4", "-c", "1", *words, address]


def idle_round_trips(network: Network, layout: Layout, wait_ns: Wait) -> dict[str, dict[str, Any]]:
    """Name of each route -> round trips [ns] as idle_round_trip(), and what they are to be."""
    return {
        name: {
            "idle_round_trip_ns": idle_round_trip(network, layout, pairs),
            "expected_idle_round_trip_ns": layout.idle_round_trip_ns(
                PING_IP_BYTES, wait_ns, pairs[0]
            ),
        }
        for name, pairs in layout.classes().items()
    }


def link_rate(network: Network, layout: Layout) -> dict[str, float | None]:
    """Each middle link's rate [bit/s], by its queues: the spacing of a train of packets.

    None where one of them did not come. The access links must be faster than the middle ones.
    Behind a link that is slower, a train shows the rate of that link (Layout.slowest()).
    """
    found = {}
    for name, (middle, direction) in layout.queues().items():
        pair = layout.prober(middle)
        if pair is None:
            continue
        ends = layout.clients() if direction == "down" else layout.servers()
        found[name] = train_rate(network, layout, ends[pair - 1])
    return found


def train_rate(network: Network, layout: Layout, to: Host) -> float | None:
    """Send full packets back to back to a host from its peer; their rate by the kernel's times."""
    peer = f"{'s' if to.name.startswith('c') else 'c'}{to.pair}"
    with (
        taker_of(network.pids[to.name], to, layout) as taker,
        socket_of(network.pids[peer]) as giver,
    ):
        if not (to.is_client or layout.clients()[to.pair - 1].is_first):
            giver.bind((to.peer_ip, 0))
        send_train(giver, to, layout)
        return rate_taken(taker, layout)


def taker_of(pid: int, host: Host, layout: Layout) -> socket.socket:
    """A socket of a host's process that takes a train, with the kernel's time of each packet."""
    taker = socket_of(pid)
    taker.bind((host.ip, TRAIN_PORT))
    taker.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    taker.settimeout(idle_round_trip_s(layout) + PATIENCE_S)
    return taker


def socket_of(pid: int) -> socket.socket:
    """A socket for datagrams in the namespace of a process."""
    with in_namespace(pid):
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def send_train(giver: socket.socket, to: Host, layout: Layout) -> None:
    """Send full packets back to back to a host."""
    for _ in range(TRAIN_PACKETS):
        giver.sendto(bytes(layout.mtu_bytes - UDP_IP_HEADER_BYTES), (to.ip, TRAIN_PORT))


def rate_taken(taker: socket.socket, layout: Layout) -> float | None:
    """The rate [bit/s] at which a train comes, with all bits that its packets take on the link.

    None where a packet of it does not come.
    """
    try:
        times_ns = [received_ns(taker) for _ in range(TRAIN_PACKETS)]
    except TimeoutError:
        return None
    sent_bytes = layout.framing.link_bytes(layout.mtu_bytes) * (TRAIN_PACKETS - 1)
    return sent_bytes * 8e9 / (times_ns[-1] - times_ns[0])


def received_ns(taker: socket.socket) -> int:
    """Take a packet; when the kernel had it."""
    _, [(_, _, stamp)], *_ = taker.recvmsg(0, socket.CMSG_SPACE(TIMESPEC.size))
    seconds, ns = TIMESPEC.unpack(stamp)
    return int(seconds * 10**9 + ns)


def idle_round_trip_s(layout: Layout) -> float:
    """What a ping is to take on the idle path [s]."""
    return layout.idle_round_trip_ns(PING_IP_BYTES) / 1e9


def microseconds(said: str) -> list[float]:
    """The round trip [ns] of one ping, to the microsecond: as in "rtt min/avg/... = 100.297/...".

    The line of the packet itself has three digits, which from 100 ms on are whole milliseconds.
    """
    return [float(ms) * 1e6 for ms in re.findall(r"= ([\d.]+)/", said)]


def switch_ports(network: Network) -> set[str]:
    """The devices of all ports: those of hosts, and those of middle links."""
    middles = network.layout.middles()
    ports = {host.switch_port for host in network.layout.hosts()}
    return ports | {port for one in middles for port in one.devices.values()}


def link_counters(network: Network) -> Counters:
    """Packets of every switch port, as the root namespace sees them."""
    ports, counters = switch_ports(network), Counters()
    with netlink.open_here() as link:
        for _, name, counted in netlink.links(link):
            if name in ports:
                lost = sum(counted[f"{way}_{what}"] for way in ("rx", "tx") for what in LOST)
                counters[name] = [counted["rx_packets"], counted["tx_packets"], lost]
    return counters


def link_ip_bytes(network: Network) -> Counters:
    """Bytes of IP packets that every switch port has received and sent."""
    ports, found = switch_ports(network), Counters()
    with netlink.open_here() as link:
        for _, name, counted in netlink.links(link):
            if name in ports:
                found[name] = [
                    counted[f"{way}_bytes"] - ETHERNET_HEADER_BYTES * counted[f"{way}_packets"]
                    for way in ("rx", "tx")
                ]
    return found


def bytes_since(before: Counters, network: Network) -> Counters:
    """Bytes of IP packets since an earlier reading; nothing if `before` is empty."""
    return difference(before, link_ip_bytes(network)) if before else before


def difference(before: Counters, after: Counters) -> Counters:
    """What was counted between two readings."""
    return {
        port: [b - a for a, b in zip(before[port], counted, strict=True)]
        for port, counted in after.items()
    }
