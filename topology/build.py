# SPDX-License-Identifier: GPL-2.0-only
"""Builds the dumbbell. Runs inside a lab, as root.

Mininet starts a process for each setting, which would take minutes. This module makes hundreds of
settings at once: `nsfarm` makes the namespaces, one `ip -batch` makes the links, and netlink sets
up the hosts and the ports and flows of the switches. If a user needs a prompt, Mininet learns the
network afterwards (topology/mininet_view.py).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from plan.dumbbell import Dumbbell
from topology import commands, netlink, rtnetlink
from topology.datapath import Datapath
from topology.run import batch, in_namespace

NSFARM = Path("/opt/cellbed/nsfarm")
# Name -> whether the clients are at this switch.
SWITCHES = {"sw1": True, "sw2": False}


class Network:
    """A running dumbbell.

    Attributes:
        pids: name of a node -> the process that holds its network namespace; "sat" is the box.
    """

    def __init__(self, dumbbell: Dumbbell) -> None:
        self.dumbbell = dumbbell
        self.farm, pids = start_namespaces(2 * dumbbell.pairs + 1)
        names = [host.name for host in dumbbell.hosts()] + [commands.BOX]
        self.pids = dict(zip(names, pids, strict=True))

    def build(self, advance: Callable[[str], None] = lambda step: None) -> None:
        """Make all parts that stay for the life of the lab.

        With many hosts this takes minutes of computing. `advance` is called with the name of each
        step.
        """
        steps: list[tuple[str, Callable[[], None]]] = [
            ("links", self._make_links),
            ("hosts", self._settle_hosts),
            ("switches", self._make_switches),
            ("middle", self._settle_middle),
        ]
        for name, step in steps:
            advance(name)
            step()

    def _make_links(self) -> None:
        mtu = self.dumbbell.mtu_bytes
        lines = commands.middle_links(self.pids[commands.BOX], mtu)
        hosts = self.dumbbell.hosts()
        lines += [commands.host_link(host, self.pids[host.name], mtu) for host in hosts]
        ports = [commands.DOWN_PORT, commands.UP_PORT] + [h.switch_port for h in hosts]
        lines += [f"link set {port} up" for port in ports]
        batch("ip", lines)

    def _make_switches(self) -> None:
        datapath = Datapath()
        for name, clients in SWITCHES.items():
            ports = commands.switch_ports(self.dumbbell, clients=clients)
            datapath.make(name, ports, commands.switch_flows(self.dumbbell, clients=clients))

    def _settle_hosts(self) -> None:
        for host in self.dumbbell.hosts():
            with netlink.open_in(self.pids[host.name]) as link:
                rtnetlink.apply(link, commands.host_settings(host, self.dumbbell.access))

    def _settle_middle(self) -> None:
        hosts = self.dumbbell.hosts()
        batch("tc", [commands.access_netem(h.switch_port, self.dumbbell.access) for h in hosts])
        with in_namespace(self.pids[commands.BOX]):
            batch("ip", [f"link set {n} up" for n in (commands.SAT_DOWN, commands.SAT_UP)])
            batch("tc", commands.sat_redirects())

    def stop(self) -> None:
        """Remove the network, by the process ids that were noted when it was made.

        A namespace removes its devices with it, and a veth removes its peer. So no link needs a
        command.
        """
        datapath = Datapath()
        for name in SWITCHES:
            datapath.remove(name)
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
