# SPDX-License-Identifier: GPL-2.0-only
"""Segmentation offload and interrupt coalescing of the hosts, as network cards have them.

    a sender's eth0: up to 64 KB in one packet (GSO) -> port under test: tbf cuts it into segments
    switch port of a receiver: netem with a slot     -> its eth0: GRO joins what comes together

A card with `ethtool -C rx-usecs N` interrupts N microseconds after a packet came, and hands over
all that came meanwhile. netem's slot does the same with the packets of an access link. The host
takes them in one NAPI poll, and GRO joins the segments of a flow. Then one ACK can answer many
segments.

The settings hold for one workload. The probes before it see the network without them.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from plan.layout import Host
from topology import commands, netlink
from topology.build import Network
from topology.run import batch, in_namespace, run

Counters = dict[str, int]

# linux/sockios.h, linux/ethtool.h, linux/if.h
SIOCETHTOOL = 0x8946
ETHTOOL_SGRO = 0x2C
VALUE = struct.Struct("=II")
IFREQ = struct.Struct("16sP16x")
DEVICE = "eth0"
MOST_SEGMENTS = 65_535  # the kernel's default, GSO_MAX_SEGS
# linux/gen_stats.h: struct gnet_stats_basic
BASIC_STATS, BASIC = 1, struct.Struct("=QI")


@contextmanager
def coalescing(network: Network, slot_ns: int) -> Iterator[None]:
    """Let all hosts offload and coalesce for the duration of a `with`; do nothing for 0."""
    if not slot_ns:
        yield
        return
    hosts, access = network.layout.hosts(), network.layout.access
    for host in hosts:
        offload(network.pids[host.name], on=True)
    words = [commands.access_netem(host.switch_port, access) for host in hosts]
    batch("tc", [f"{one} slot {slot_ns}ns {slot_ns}ns" for one in words])
    try:
        yield
    finally:
        # netem keeps each setting that a change does not mention.
        batch("tc", [f"qdisc del dev {host.switch_port} root" for host in hosts])
        batch("tc", words)
        for host in hosts:
            offload(network.pids[host.name], on=False)


def offload(pid: int, *, on: bool) -> None:
    """Switch GSO and GRO of a host on or off."""
    with in_namespace(pid):
        run(f"ip link set dev {DEVICE} gso_max_segs {MOST_SEGMENTS if on else 1}".split())
        value = ctypes.create_string_buffer(VALUE.pack(ETHTOOL_SGRO, on))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            wanted = IFREQ.pack(DEVICE.encode(), ctypes.addressof(value))
            fcntl.ioctl(any_socket, SIOCETHTOOL, wanted)


def segments(network: Network) -> Counters:
    """Return the segments that each host has sent, by its switch port.

    A device counts what a host hands over at a time as one packet; netem counts its segments.
    """
    hosts = network.layout.hosts()
    return {host.switch_port: _sent(network.pids[host.name], host) for host in hosts}


def _sent(pid: int, host: Host) -> int:
    with netlink.open_in(pid) as link:
        for index, kind, stats in netlink.qdiscs(link):
            if (index, kind) == (host.ifindex, "netem"):
                return int(BASIC.unpack_from(stats[BASIC_STATS])[1])
    raise RuntimeError(f"{host.name}: {DEVICE} has no netem")
