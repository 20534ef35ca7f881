# SPDX-License-Identifier: GPL-2.0-only
"""Builds a network. Runs inside a lab, as root.

Mininet starts a process for each setting, which would take minutes. This module makes hundreds of
settings at once: `nsfarm` makes the namespaces, and netlink makes the links and sets up the hosts
and the ports and flows of the switches. If a user needs a prompt, Mininet learns the
network afterwards (topology/mininet_view.py).
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from plan.layout import Host, Layout
from topology import commands, netlink, rtnetlink
from topology.datapath import Datapath
from topology.rtnetlink import Request
from topology.run import batch, in_namespace, in_turn

NSFARM = Path("/opt/cellbed/nsfarm")


class Network:
    """A running network.

    Attributes:
        pids: name of a host, of an end or of a box -> the process that holds its network namespace.
        links: name of a host or of a box -> a socket of NETLINK_ROUTE in its namespace.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        names = [*layout.nodes(), *(one.box for one in layout.middles())]
        self.farm, pids = start_namespaces(len(names))
        self.pids = dict(zip(names, pids, strict=True))
        self.links: dict[str, socket.socket] = {}
        with in_turn() as enter:
            for name, pid in self.pids.items():
                enter(pid)
                self.links[name] = netlink.open_here()
        self.pids |= {end.name: self.pids[end.node] for end in layout.ends()}

    def build(self, advance: Callable[[str], None] = lambda step: None) -> None:
        """Make all parts that stay for the life of the lab.

        With many hosts this takes minutes of computing. `advance` is called with the name of each
        step.
        """
        steps: list[tuple[str, Callable[[], None]]] = [
            ("links", self._make_links),
            ("hosts", self._settle_hosts),
            ("switches", self._make_switches),
            ("middle", self._settle_middles),
        ]
        for name, step in steps:
            advance(name)
            step()

    def _make_links(self) -> None:
        mtu, hosts = self.layout.mtu_bytes, self.layout.hosts()
        requests: list[Request] = []
        ports: list[str] = []
        for middle in self.layout.middles():
            requests += commands.middle_link(middle, self.pids[middle.box], mtu)
            ports += middle.devices.values()
        requests += [commands.host_link(host, self.pids[host.node], mtu) for host in hosts]
        ports += [host.switch_port for host in hosts]
        requests += [rtnetlink.named_up(port) for port in ports]
        with netlink.open_here() as link:
            rtnetlink.apply(link, requests)

    def _make_switches(self) -> None:
        datapath = Datapath()
        for name in self.layout.switches():
            ports = commands.switch_ports(self.layout, name)
            datapath.make(name, ports, commands.switch_flows(self.layout, name))

    def _settle_hosts(self) -> None:
        ends: dict[str, list[Host]] = {}
        for end in self.layout.ends():
            ends.setdefault(end.switch_port, []).append(end)
        for host in self.layout.hosts():
            settings = commands.host_settings(ends[host.switch_port], self.layout.access)
            rtnetlink.apply(self.links[host.node], settings)

    def _settle_middles(self) -> None:
        hosts, access = self.layout.hosts(), self.layout.access
        with netlink.open_here() as link:
            rtnetlink.apply(link, [commands.access_link(h.switch_ifindex, access) for h in hosts])
        for middle in self.layout.middles():
            devices = (commands.SAT_DOWN, commands.SAT_UP)
            rtnetlink.apply(self.links[middle.box], [rtnetlink.named_up(one) for one in devices])
            with in_namespace(self.pids[middle.box]):
                batch("tc", commands.sat_redirects())

    def stop(self) -> None:
        """Remove the network, by the process ids that were noted when it was made.

        A namespace removes its devices with it, and a veth removes its peer. So no link needs a
        command.
        """
        datapath = Datapath()
        for name in self.layout.switches():
            datapath.remove(name)
        for link in self.links.values():
            link.close()
        self.farm.kill()
        self.farm.wait()


def start_namespaces(count: int) -> tuple[subprocess.Popen[str], list[int]]:
    """Make `count` network namespaces; return their keeper and one process id for each."""
    farm = subprocess.Popen([str(NSFARM), str(count)], stdout=subprocess.PIPE, text=True)
    assert farm.stdout is not None
    pids: list[int] = []
    for line in farm.stdout:
        if not line.strip():
            return farm, pids
        pids.append(int(line))
    raise RuntimeError(
        f"nsfarm made fewer than {count} network namespaces and ended with status {farm.wait()}"
    )
