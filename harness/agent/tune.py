# SPDX-License-Identifier: GPL-2.0-only
"""Gives a built network what one trial wants of it, and reads each setting back.

What is as it was for the trial before is left alone; what differs is set everywhere.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Collection, Mapping

from harness.agent import flavor as flavors
from harness.agent import module, sysctls
from harness.agent.struct_ops import register
from harness.agent.tune_plan import changes, route_metrics
from plan import struct_ops
from plan.layout import Host, Layout, Link
from plan.plan import Flavor, Plan, Tcp
from topology import commands, netlink, rtnetlink
from topology.build import Network
from topology.run import in_namespace, in_turn

IPV4 = sysctls.ROOT
# The socket buffers are never the limit under test: the receiver's is far above the
# window that the route allows it to advertise, the sender's takes whole answers.
RECEIVE_BUFFER_BYTES = 16 * 1024 * 1024
SEND_BUFFER_BYTES = 64 * 1024 * 1024
TCP_MEMORY_PAGES = 4_000_000
# Packets between two devices of the lab wait here. The kernel's 1,000 are too few where a thousand
# hosts send at the same moment.
BACKLOG = IPV4.parent / "core" / "netdev_max_backlog"
BACKLOG_PACKETS = 100_000


class TuneError(RuntimeError):
    """A setting that did not come out as asked; names what, wanted and found."""


def load_module(flavor: Flavor) -> None:
    """Load a flavor's kernel module unless it is there: set-up's, else the system's own."""
    name = flavor.module
    if name is None:
        return
    if struct_ops.is_program(name):
        register(name, flavor.congestion)
        return
    module.load(name)


def allow(congestion: str) -> None:
    """Let every namespace have a congestion control: the kernel keeps some for its first one.

    The list is written whole: what it lacks is no longer allowed.
    """
    present = (IPV4 / "tcp_available_congestion_control").read_text().split()
    path = IPV4 / "tcp_allowed_congestion_control"
    if not path.exists():  # not the first namespace: whoever has that decides
        return
    allowed = path.read_text().split()
    if congestion in present and congestion not in allowed:
        path.write_text(" ".join([*allowed, congestion]))


class Tuner:
    """Knows the present settings of a network's hosts and links."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._flavors: dict[str, Flavor] = {}
        self._untouched: Flavor | None = None  # what a host has that was never told
        self._routes: dict[str, str] = {}
        self._middle = ""
        memory = IPV4 / "tcp_mem"
        # It is the whole machine's; a lab that is only a namespace of one does not see it.
        if memory.exists():
            memory.write_text(f"{TCP_MEMORY_PAGES} {TCP_MEMORY_PAGES} {TCP_MEMORY_PAGES}")
        if BACKLOG.exists():  # as above
            BACKLOG.write_text(str(BACKLOG_PACKETS))
        sysctls.prepare()

    def tune(self, plan: Plan) -> None:
        """Set delay, MTU, routes and TCP flavors of a plan."""
        for flavor in plan.tcp.flavors:
            load_module(flavor)
            allow(flavor.congestion)
        wanted = plan.topology.layout()
        self._tune_middles(wanted)
        if not self._flavors:
            with in_namespace(self.network.pids[wanted.hosts()[0].name]):
                self._untouched = flavors.held(plan.tcp.flavor)
        with in_turn() as enter:
            for host in wanted.ends():
                end = "client" if host.name.startswith("c") else "server"
                self._tune_host(host, wanted, plan.tcp.of_pair(host.pair), end, enter)

    def _tune_middles(self, wanted: Layout) -> None:
        key = repr(([one.link.delay_ns for one in wanted.middles()], wanted.mtu_bytes))
        if key == self._middle:
            return
        ports = {host.switch_port for host in wanted.hosts()}
        ports |= {port for one in wanted.middles() for port in one.devices.values()}
        set_mtu(ports, wanted.mtu_bytes)
        boxes = (commands.SAT_DOWN, commands.SAT_UP)
        for one in wanted.middles():
            with in_namespace(self.network.pids[one.box]):
                set_mtu(boxes, wanted.mtu_bytes)
                set_delay(boxes, one.link)
                check_delay(boxes, one.link.delay_ns)
        check_mtu(ports, wanted.mtu_bytes)
        self._middle = key

    def _tune_host(
        self, host: Host, wanted: Layout, tcp: Tcp, end: str, enter: Callable[[int], None]
    ) -> None:
        metrics = route_metrics(tcp, end)
        route = json.dumps([wanted.mtu_bytes, metrics])
        before = self._flavors.get(host.node)
        if before == tcp.flavor and self._routes.get(host.name) == route:
            return
        enter(self.network.pids[host.name])
        if before is None:
            write_buffers()
        if before != tcp.flavor:
            flavors.apply(changes(before or self._untouched, tcp.flavor))
            self._flavors[host.node] = tcp.flavor
        if self._routes.get(host.name) != route:
            set_route(self.network.links[host.node], host, wanted.mtu_bytes, metrics)
            self._routes[host.name] = route


def set_mtu(ports: Collection[str], mtu_bytes: int) -> None:
    """Give devices of the present namespace an MTU."""
    with netlink.open_here() as link:
        indices = {name: index for index, name, _ in netlink.mtus(link)}
        rtnetlink.apply(link, [rtnetlink.mtu(indices[port], mtu_bytes) for port in ports])


def check_mtu(ports: Collection[str], mtu_bytes: int) -> None:
    """Compare the MTU of devices of the present namespace with what was asked for.

    Raises:
        TuneError: the kernel has another one.
    """
    with netlink.open_here() as link:
        found = {name: mtu for _, name, mtu in netlink.mtus(link)}
    for port in ports:
        if found.get(port) != mtu_bytes:
            raise TuneError(f"{port}: the kernel has mtu {found.get(port)} and not {mtu_bytes}")


def write_buffers() -> None:
    """Socket buffers of the present namespace."""
    sizes = (("tcp_rmem", RECEIVE_BUFFER_BYTES), ("tcp_wmem", SEND_BUFFER_BYTES))
    wanted = {name: f"4096 {size} {size}" for name, size in sizes}
    found = sysctls.put(wanted)
    for name, value in wanted.items():
        if found.get(name) != value:
            raise TuneError(f"{name}: the kernel has {found.get(name)} and not {value}")


def set_route(
    link: socket.socket, host: Host, mtu_bytes: int, metrics: Mapping[str, int]
) -> None:
    """The MTU and the route of a host, by a socket in its namespace; the route is read back."""
    table = commands.table_of(host)
    route = rtnetlink.route(host.ifindex, host.peer_ip, host.ip, metrics, table)
    rtnetlink.apply(link, [rtnetlink.mtu(host.ifindex, mtu_bytes), route])
    found = rtnetlink.route_metrics(link, host.peer_ip, table)
    for name, value in metrics.items():
        if found.get(name, 0) != value:
            raise TuneError(f"{host.name}: the route has {name} {found.get(name)} and not {value}")


def set_delay(boxes: Collection[str], middle: Link) -> None:
    """Give the box's devices a one-way delay."""
    with netlink.open_here() as link:
        indices = {name: index for index, name, _ in netlink.mtus(link)}
        rtnetlink.apply(link, [commands.constant_delay(indices[box], middle) for box in boxes])


def check_delay(boxes: Collection[str], delay_ns: int) -> None:
    """Compare the delay of each box's netem with what was asked for, to the microsecond.

    Raises:
        TuneError: the kernel has another one.
    """
    with netlink.open_here() as link:
        names = {index: name for index, name, _ in netlink.mtus(link)}
        found = {names.get(index): ns for index, ns in netlink.netem_delays(link)}
    for box in boxes:
        if abs(found[box] - delay_ns) > 1000:
            raise TuneError(f"{box}: netem delays by {found[box]} ns and not by {delay_ns} ns")
