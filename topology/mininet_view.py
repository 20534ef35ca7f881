# SPDX-License-Identifier: GPL-2.0-only
"""The built dumbbell as Mininet's objects, for its prompt. The objects change nothing."""

from __future__ import annotations

import os
import signal

from mininet.link import Intf
from mininet.link import Link as MininetLink
from mininet.net import Mininet
from mininet.node import Node, Switch

from topology import commands
from topology.build import Network


class Built(Node):
    """A Mininet node that already exists. Its shell starts at the first use."""

    isSetup = True  # noqa: N815 (Mininet's name): nothing else has to be started

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802
        """Do nothing yet: a shell at a terminal takes a quarter of a second to start."""
        self.pid = self.params.get("holder_pid", os.getpid())

    def cmd(self, *args: object, **kwargs: object) -> str:
        """Start the shell inside the namespace before the first command."""
        self._need_shell()
        return super().cmd(*args, **kwargs)

    def sendCmd(self, *args: object, **kwargs: object) -> None:  # noqa: N802
        """Do the same as `cmd`; Mininet's prompt calls this method."""
        self._need_shell()
        super().sendCmd(*args, **kwargs)

    def _need_shell(self) -> None:
        if self.shell is None:
            pid = self.pid
            # Without -c, which closes 65,536 descriptors one by one: Python passes on none.
            super().startShell(mnopts=f"-da {pid}" if self.inNamespace else "-d")
            self.pid = pid

    def terminate(self) -> None:
        """End the shell if there is one. nsfarm ends the namespace."""
        if self.shell is not None:
            os.killpg(self.shell.pid, signal.SIGHUP)
            self.cleanup()


class BuiltHost(Built):
    """A host in a namespace that exists; the process `holder_pid` holds it."""

    def config(self, **params: object) -> dict[str, object]:
        """Do nothing: a batch has set the addresses."""
        return {}


class BuiltSwitch(Built, Switch):
    """A switch of the kernel's datapath."""

    def dpctl(self, *args: str) -> str:
        """Run the prompt's command `dpctl` with ovs-dpctl, because there is no ovs-vswitchd."""
        command, *more = args
        return self.cmd("ovs-dpctl", command, self.name, *more)


class BuiltIntf(Intf):
    """An interface that a batch has configured."""

    def config(self, **params: object) -> dict[str, object]:
        return {}


class BuiltLink(MininetLink):
    """A veth pair that a batch has made."""

    @classmethod
    def makeIntfPair(cls, *args: object, **kwargs: object) -> None:  # noqa: N802
        return None


def of(network: Network) -> Mininet:
    """Return Mininet's objects of a network."""
    net = Mininet(build=False, controller=None)
    switches = {
        name: net.addSwitch(name, cls=BuiltSwitch, dpid=str(number))
        for number, name in enumerate(network.layout.switches(), 1)
    }
    for host in network.layout.hosts():
        if host.is_first:
            net.addHost(host.node, cls=BuiltHost, holder_pid=network.pids[host.node])
        node, switch = net.get(host.node), switches[host.switch]
        link(net, node, switch, (host.device, host.switch_port), host.port_pair)
        node.intf(host.device).ip = host.ip  # a batch has set it; Mininet's commands read it
    for middle in network.layout.middles():
        box = net.addHost(middle.box, cls=BuiltHost, holder_pid=network.pids[middle.box])
        for name, inside in ((middle.near, commands.SAT_DOWN), (middle.far, commands.SAT_UP)):
            port = middle.device_at(name)
            numbers = {d: n for n, d in commands.switch_ports(network.layout, name).items()}
            link(net, box, switches[name], (inside, port), numbers[port])
    net.build()
    return net


def link(net: Mininet, node: Node, switch: Node, devices: tuple[str, str], port: int) -> None:
    """Describe a link from a node to a port of a switch, by its two devices."""
    net.addLink(
        node, switch, cls=BuiltLink, intf=BuiltIntf, port2=port,
        intfName1=devices[0], intfName2=devices[1],
    )  # fmt: skip
