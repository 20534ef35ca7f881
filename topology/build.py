# SPDX-License-Identifier: GPL-2.0-only
"""Builds the dumbbell in Mininet. Runs inside a lab, as root there.

Mininet keeps the names, the nodes, the links and the prompt; what it does with one
process per setting (a shell a host, four ifconfig and an ip a link) is done here in
batches: the namespaces by `nsfarm`, the links by one `ip -batch`, each host's settings
by one `ip -batch` and one `tc -batch`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from mininet.link import Intf
from mininet.link import Link as MininetLink
from mininet.net import Mininet
from mininet.node import Node, OVSSwitch

from plan.dumbbell import Dumbbell
from topology import commands, netlink, rtnetlink
from topology.run import batch, in_namespace, run

NSFARM = Path("/opt/cellbed/nsfarm")
DISCARD_PORT = 9
PRIME_S = 2.0


class Built(Node):
    """A Mininet node that exists; its shell starts when first used."""

    isSetup = True  # noqa: N815 (Mininet's name): what it needs was started here

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802
        """Nothing yet: a shell at a terminal takes a quarter of a second to come up."""
        self.pid = self.params.get("holder_pid", os.getpid())

    def cmd(self, *args: object, **kwargs: object) -> str:
        """Start the shell inside the namespace before the first command."""
        self._need_shell()
        return super().cmd(*args, **kwargs)

    def sendCmd(self, *args: object, **kwargs: object) -> None:  # noqa: N802
        """As `cmd`: Mininet's prompt uses this one."""
        self._need_shell()
        super().sendCmd(*args, **kwargs)

    def _need_shell(self) -> None:
        if self.shell is None:
            pid = self.pid
            # Not -c, which closes 65,536 descriptors one by one: Python's are not inherited.
            super().startShell(mnopts=f"-da {pid}" if self.inNamespace else "-d")
            self.pid = pid

    def terminate(self) -> None:
        """End the shell if there was one; the namespace is nsfarm's."""
        if self.shell is not None:
            os.killpg(self.shell.pid, signal.SIGHUP)
            self.cleanup()


class BuiltHost(Built):
    """A host over a namespace that exists, of the process `holder_pid`."""

    def config(self, **params: object) -> dict[str, object]:
        """Addresses were given in a batch."""
        return {}


class BuiltSwitch(Built, OVSSwitch):
    """A switch of the Open vSwitch that was started here."""

    def cmd(self, *args: object, **kwargs: object) -> str:
        """Mininet first sets the loopback device up, which it is."""
        return "" if args[:2] == ("ifconfig", "lo") else super().cmd(*args, **kwargs)

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802
        """Older than 1.10: Mininet would ask ovs-vsctl."""
        return False


class BuiltIntf(Intf):
    """An interface that was configured in a batch."""

    def config(self, **params: object) -> dict[str, object]:
        return {}


class BuiltLink(MininetLink):
    """A veth pair that was made in a batch."""

    @classmethod
    def makeIntfPair(cls, *args: object, **kwargs: object) -> None:  # noqa: N802
        return None


class Network:
    """A running dumbbell.

    Attributes:
        net: the Mininet object.
        pids: process whose namespace a node is, by the node's name; "sat" is the box.
    """

    def __init__(self, dumbbell: Dumbbell) -> None:
        self.dumbbell = dumbbell
        self.farm, pids = start_namespaces(2 * dumbbell.pairs + 1)
        names = [host.name for host in dumbbell.hosts()] + [commands.BOX]
        self.pids = dict(zip(names, pids, strict=True))
        self.net = Mininet(build=False, controller=None)

    def build(self, advance: Callable[[str], None] = lambda step: None) -> None:
        """Make everything that stays for the life of the lab.

        With many hosts this takes minutes of computing: `advance` is told each step that begins.
        """
        steps: list[tuple[str, Callable[[], None]]] = [
            ("links", self._make_links),
            # Before Open vSwitch knows their ports: at each link that comes up it looks at all.
            ("hosts", self._settle_hosts),
            ("Open vSwitch", start_open_vswitch),
            ("Mininet", self._describe_to_mininet),
            ("switches", self._start_switches),
            ("middle", self._settle_middle),
            ("first packets", self._prime_switches),
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

    def _describe_to_mininet(self) -> None:
        net, pids = self.net, self.pids
        switches = {
            name: net.addSwitch(name, cls=BuiltSwitch, failMode="secure", batch=True, dpid=dpid)
            for name, dpid in (("sw1", "1"), ("sw2", "2"))
        }
        for host in self.dumbbell.hosts():
            node = net.addHost(host.name, cls=BuiltHost, holder_pid=pids[host.name])
            switch = switches[host.switch_port.partition("-")[0]]
            self._link(node, switch, "eth0", host.switch_port, host.pair)
            node.defaultIntf().ip = host.ip  # given in a batch; Mininet's commands ask for it
        sat = net.addHost(commands.BOX, cls=BuiltHost, holder_pid=pids[commands.BOX])
        for switch, name, port in (
            ("sw2", commands.SAT_DOWN, commands.DOWN_PORT),
            ("sw1", commands.SAT_UP, commands.UP_PORT),
        ):
            self._link(sat, switches[switch], name, port, commands.MIDDLE_OFPORT)

    def _link(self, node: Node, switch: Node, name: str, port: str, ofport: int) -> None:
        self.net.addLink(
            node, switch, cls=BuiltLink, intf=BuiltIntf, port2=ofport,
            intfName1=name, intfName2=port,
        )  # fmt: skip

    def _start_switches(self) -> None:
        self.net.build()
        self.net.start()
        for name, clients in (("sw1", True), ("sw2", False)):
            flows = commands.switch_flows(self.dumbbell, clients=clients)
            run(["ovs-ofctl", "-O", "OpenFlow15", "add-flows", name, "-"], "\n".join(flows) + "\n")

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

    def _prime_switches(self) -> None:
        """Send a datagram each way on every pair, so that each kernel flow is there.

        The first packet of a flow takes a way round through user space, and what the
        queue learns of it then comes late.
        """
        for host in self.dumbbell.hosts():
            with (
                in_namespace(self.pids[host.name]),
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe,
            ):
                probe.sendto(b"", (host.peer_ip, DISCARD_PORT))
        time.sleep(PRIME_S)

    def stop(self) -> None:
        """Undo what was built, by the ids noted when it was made.

        A namespace takes its devices with it, and a veth its peer: no command a link.
        """
        run(["ovs-vsctl", "--if-exists", "del-br", "sw1", "--", "--if-exists", "del-br", "sw2"])
        self.farm.kill()
        self.farm.wait()


def start_namespaces(count: int) -> tuple[subprocess.Popen[str], list[int]]:
    """Make `count` network namespaces; returns their keeper and a process id for each."""
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


def start_open_vswitch() -> None:
    """One ovsdb-server and one ovs-vswitchd of the lab's own, with kernel flows that stay."""
    Path("/run/openvswitch").mkdir(exist_ok=True)
    database = "/run/openvswitch/conf.db"
    run(["ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"])
    run([
        "ovsdb-server", database, "--remote=punix:/run/openvswitch/db.sock",
        "--pidfile", "--detach", "--log-file=/run/openvswitch/ovsdb.log", "-vconsole:off",
    ])  # fmt: skip
    # A kernel flow that is forgotten costs an upcall, and the packets behind it overtake; the
    # statistics of every port, read each 5 s, held packets up for 3 us and for 6.
    idle_ms = 2_000_000_000
    names = ("max-idle", "max-revalidator", "stats-update-interval")
    settings = [f"other_config:{name}={idle_ms}" for name in names]
    run(["ovs-vsctl", "--no-wait", "init", "--", "set", "Open_vSwitch", ".", *settings])
    run([
        "ovs-vswitchd", "unix:/run/openvswitch/db.sock", "--pidfile", "--detach",
        "--log-file=/run/openvswitch/vswitchd.log", "-vconsole:off",
    ])  # fmt: skip
