# SPDX-License-Identifier: GPL-2.0-only
"""Packets lost anywhere, as the kernel counts them: read whole before and after a trial.

Of every network namespace (the switches', each box's, each host's) all queueing disciplines,
all devices, and of IP and TCP each counter of a packet that came and was not taken; of the
machine what found a processor's backlog full. The port under test is told apart: what its
own queue refuses is what the trial is about. So is what the path was told to lose.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.agent.procfs import text
from plan.layout import Middle
from plan.plan import DELAYS, Plan
from plan.queue import DIRECTIONS
from topology import moving, netlink
from topology.build import Network

# "NAMESPACE COUNTER" -> value
Counters = dict[str, int]

SWITCHES = "switches"
QUEUE_DROPS = struct.Struct("=III")  # queue length, backlog, drops, and more
# /proc/net/snmp and netstat: a packet or connection that was not taken. Timeouts, losses that
# TCP infers and resets are none of these: they are what the queue under test causes. Nor is
# Tcp:InErrs: a SYN-ACK that comes twice, on a path longer than its timeout, is in it.
REFUSALS = """
Ip:InHdrErrors Ip:InAddrErrors Ip:InUnknownProtos Ip:InDiscards Ip:OutDiscards Ip:OutNoRoutes
Ip:ReasmFails Ip:FragFails IpExt:InNoRoutes IpExt:InTruncatedPkts IpExt:InCsumErrors
Tcp:InCsumErrors Udp:InErrors Udp:RcvbufErrors Udp:SndbufErrors
TcpExt:PruneCalled TcpExt:RcvPruned TcpExt:OfoPruned TcpExt:TCPRcvCollapsed TcpExt:TCPOFODrop
TcpExt:TCPBacklogDrop TcpExt:PFMemallocDrop TcpExt:TCPMinTTLDrop TcpExt:TCPRcvQDrop
TcpExt:TCPZeroWindowDrop TcpExt:ListenOverflows TcpExt:ListenDrops TcpExt:TCPReqQFullDrop
TcpExt:TCPReqQFullDoCookies TcpExt:TCPAbortOnMemory TcpExt:TCPMemoryPressures
TcpExt:TCPWqueueTooBig TcpExt:IPReversePathFilter TcpExt:TCPMD5Failure
""".split()


class Losses:
    """A network's counters, from one begin() on."""

    def __init__(self, network: Network) -> None:
        pids = {name: network.pids[name] for name in network.links}
        self._namespaces = {SWITCHES: os.getpid(), **pids}
        self._links = {SWITCHES: netlink.open_here(), **network.links}
        self._before: Counters = {}

    def begin(self) -> None:
        """Read all, to compare with."""
        self._before = self._read()

    def since(self, plan: Plan) -> dict[str, Any]:
        """What has changed in a trial.

        Returns:
            namespaces: how many were read; elsewhere: each counter that changed, but the
            ports' and the path's; at_port: what the queue at each port under test refused
            [packets]; on_path: where the path loses any, how many each way [packets].
        """
        after = self._read()
        grown = {name: n - self._before.get(name, 0) for name, n in after.items()}
        at_port = {}
        for name, (middle, direction) in plan.topology.layout().queues().items():
            kinds, device = served(plan, middle, direction), middle.devices[direction]
            at_port[name] = [grown.pop(f"{SWITCHES} {device} {kind}") for kind in kinds][0]
        devices, ways, kind = DELAYS[plan.topology.delay].Delay.devices, lossy(plan), "netem"
        box = plan.topology.layout().moved.box
        if plan.topology.path:
            kind = moving.KIND
        on_path = {way: grown.pop(f"{box} {devices[way]} {kind}") for way in ways}
        return {
            "namespaces": len(self._namespaces),
            "elsewhere": {name: n for name, n in sorted(grown.items()) if n},
            "at_port": at_port,
            **({"on_path": on_path} if ways else {}),
        }

    def _read(self) -> Counters:
        found = {"backlog": softnet()[0]}
        for name, pid in self._namespaces.items():
            devices = dict[int, str]()
            counted = device_losses(self._links[name], devices)
            counted |= qdisc_drops(self._links[name], devices)
            counted |= refusals(pid)
            found |= {f"{name} {counter}": n for counter, n in counted.items()}
        return found


def served(plan: Plan, middle: Middle, direction: str) -> Sequence[str]:
    """Kinds of queueing disciplines at a port, whose server is another one where the link moves."""
    kinds = plan.queue.at(direction).qdiscs
    moves = plan.topology.path and middle == plan.topology.layout().moved
    return [moving.KIND if kind == "tbf" and moves else kind for kind in kinds]


def lossy(plan: Plan) -> Sequence[str]:
    """The directions that may lose packets on the path."""
    if plan.topology.path:
        return DIRECTIONS
    return plan.topology.loss.directions if plan.topology.loss else ()


def softnet() -> tuple[int, int]:
    """Packets that found the backlog full, and rounds cut short, over all processors."""
    lines = Path("/proc/net/softnet_stat").read_text().splitlines()
    rows = [[int(word, 16) for word in line.split()] for line in lines]
    return sum(row[1] for row in rows), sum(row[2] for row in rows)


def qdisc_drops(link: socket.socket, devices: dict[int, str]) -> Counters:
    """Drops of every queueing discipline of a namespace: "DEVICE KIND" -> packets."""
    drops: Counters = {}
    for index, kind, stats in netlink.qdiscs(link):
        drops[f"{devices[index]} {kind}"] = QUEUE_DROPS.unpack_from(stats[netlink.QUEUE_STATS])[2]
    return drops


def device_losses(link: socket.socket, devices: dict[int, str]) -> Counters:
    """Of every device of a namespace: "DEVICE COUNTER" -> packets; `devices` gets their names."""
    found: Counters = {}
    for index, device, stats in netlink.links(link):
        devices[index] = device
        counted = {
            "rx_errors": stats["rx_errors"],
            "rx_drops": stats["rx_dropped"] + stats["rx_missed_errors"],
            "rx_overruns": stats["rx_fifo_errors"],
            "tx_errors": stats["tx_errors"],
            "tx_drops": stats["tx_dropped"],
        }
        found |= {f"{device} {counter}": value for counter, value in counted.items()}
    return found


def refusals(pid: int) -> Counters:
    """What IP, TCP and UDP did not take, in the namespace of a process."""
    found: Counters = {}
    for name in ("snmp", "netstat"):
        lines = text(f"/proc/{pid}/net/{name}").splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            if places := refusals_in(names):
                words = values.split()
                found |= {counter: int(words[n]) for counter, n in places}
    return found


@cache
def refusals_in(names: str) -> list[tuple[str, int]]:
    """Those of REFUSALS that a line of names has, and where: all namespaces have the same lines."""
    group, *keys = names.split()
    return [(group + key, n) for n, key in enumerate(keys, 1) if group + key in REFUSALS]
