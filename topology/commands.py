# SPDX-License-Identifier: GPL-2.0-only
"""The dumbbell as lines for `ip -batch` and `tc -batch`, and its switches' flows. Pure.

One process takes hundreds of lines, of one network namespace; a process a line is what makes
a network of 200 hosts slow to build. A host's own settings are requests over rtnetlink.
"""

from __future__ import annotations

import struct

from plan.atm import AAL5_OVERHEAD_BYTES, CELL_BYTES, CELL_PAYLOAD_BYTES, ETHERNET_HEADER_BYTES
from plan.dumbbell import Dumbbell, Host, Link
from topology import datapath, rtnetlink
from topology.rtnetlink import Request

DOWN_PORT = "sw2-sat"
UP_PORT = "sw1-sat"
PORTS = {"down": DOWN_PORT, "up": UP_PORT}
BOX = "sat"  # between the switches; the propagation delay is there
SAT_DOWN = "sat-sw2"  # the box towards the servers
SAT_UP = "sat-sw1"  # the box towards the clients
# Never the limit under test: drops happen in the cell queue or nowhere.
NETEM_LIMIT_PACKETS = 1_000_000
FQ_LIMIT_PACKETS = 1_000_000
MIDDLE_PORT = 2000
LOOPBACK_IFINDEX = 1


def host_link(host: Host, pid: int, mtu: int) -> str:
    """A veth pair: `switch_port` here, eth0 in the namespace of `pid`."""
    return (
        f"link add name {host.switch_port} index {host.switch_ifindex} mtu {mtu} "
        f"gso_max_segs 1 type veth "
        f"peer name eth0 index {host.ifindex} address {host.mac} mtu {mtu} "
        f"gso_max_segs 1 netns {pid}"
    )


def middle_links(sat_pid: int, mtu: int) -> list[str]:
    """The two veth pairs between the switches and the box in the middle."""
    return [
        f"link add name {port} mtu {mtu} gso_max_segs 1 type veth "
        f"peer name {name} mtu {mtu} gso_max_segs 1 netns {sat_pid}"
        for port, name in ((DOWN_PORT, SAT_DOWN), (UP_PORT, SAT_UP))
    ]


def access_netem(device: str, access: Link) -> str:
    """The access link: rate counted in cells, then the propagation delay.

    netem also takes the packet off its socket's account, as a network card does when
    it has sent it; without that, TCP small queues would throttle the sender long
    before the queue under test is full.
    """
    rate_byte_per_s, *cells = access_rate(access)
    return (
        f"qdisc replace dev {device} root netem limit {NETEM_LIMIT_PACKETS} "
        f"delay {access.delay_ns}ns rate {rate_byte_per_s * 8}bit {' '.join(map(str, cells))}"
    )


def access_rate(access: Link) -> tuple[int, int, int, int]:
    """An access link's rate [byte/s], and what netem adds to a packet, a cell's payload and its
    header [bytes]: the fields of struct tc_netem_rate.
    """
    # netem counts in whole nanoseconds, and so does the queue's model of this link:
    # the rate at which a cell takes a whole number of them keeps the two together.
    rate = CELL_BYTES * 10**9 // round(access.cell_time_ns())
    overhead = AAL5_OVERHEAD_BYTES - ETHERNET_HEADER_BYTES
    return rate, overhead, CELL_PAYLOAD_BYTES, CELL_BYTES - CELL_PAYLOAD_BYTES


def host_settings(host: Host, access: Link) -> list[Request]:
    """Inside the host: interfaces up, address, peer as a static neighbour, route, access link."""
    eth0 = host.ifindex
    rate = struct.pack("=IiIi", *access_rate(access))
    return [
        rtnetlink.link_up(LOOPBACK_IFINDEX),
        rtnetlink.address(eth0, host.ip, 8),
        rtnetlink.link_up(eth0),
        rtnetlink.neighbour(eth0, host.peer_ip, host.peer_mac),
        rtnetlink.route(eth0, host.peer_ip, host.ip),
        rtnetlink.netem(eth0, NETEM_LIMIT_PACKETS, access.delay_ns, rate),
    ]


def sat_redirects() -> list[str]:
    """Inside the box: what comes in at one port leaves by the other.

    With room before it (prio 10) for the program that watches what came over the wire.
    """
    lines = []
    for source, target in ((SAT_DOWN, SAT_UP), (SAT_UP, SAT_DOWN)):
        lines += [f"qdisc add dev {source} ingress", redirect(source, target)]
    return lines


def redirect(source: str, target: str) -> str:
    """What comes in at one device, which has an ingress qdisc, leaves by another."""
    return (
        f"filter add dev {source} ingress protocol all prio 10 matchall "
        f"action mirred egress redirect dev {target}"
    )


def no_redirect(source: str) -> str:
    """Undoes it."""
    return f"filter del dev {source} ingress protocol all prio 10 matchall"


def pair_in_box(near: str, far: str, mtu: int) -> list[str]:
    """Inside the box, lines for ip: a veth pair with both ends there, up."""
    return [
        f"link add name {near} mtu {mtu} gso_max_segs 1 type veth "
        f"peer name {far} mtu {mtu} gso_max_segs 1",
        *(f"link set {device} up" for device in (near, far)),
    ]


def sat_delay(middle: Link) -> list[str]:
    """Inside the box: the one-way delay on both ports."""
    return [box_delay(device, middle) for device in (SAT_DOWN, SAT_UP)]


def box_delay(device: str, middle: Link, rate: str = "") -> str:
    """The same on one port; `rate`: netem's words for one."""
    return (
        f"qdisc replace dev {device} root netem limit {NETEM_LIMIT_PACKETS} "
        f"delay {middle.delay_ns}ns {rate}"
    ).rstrip()


def departure_fq(device: str) -> str:
    """fq that holds each packet until the departure time that the cell queue gave it.

    nopacing: TCP's own pacing is none of this qdisc's business. timer_slack: no grace;
    horizon: 10^6 cells at 1 Mbit/s are 424 s.
    """
    return (
        f"qdisc replace dev {device} root fq limit {FQ_LIMIT_PACKETS} "
        f"flow_limit {FQ_LIMIT_PACKETS} nopacing timer_slack 0 horizon 1000s horizon_drop"
    )


def switch_flows(network: Dumbbell, *, clients: bool) -> list[bytes]:
    """The flows (topology/datapath.py) of one switch; it drops all other packets.

    To the middle: the host's port gives the VC number, written as the packet mark. From
    the middle: by the destination's Ethernet address.
    """
    hosts = network.clients() if clients else network.servers()
    to_middle = [datapath.flow(host.pair, MIDDLE_PORT, mark=host.pair) for host in hosts]
    return to_middle + [datapath.flow(MIDDLE_PORT, host.pair, to_mac=host.mac) for host in hosts]


def switch_ports(network: Dumbbell, *, clients: bool) -> dict[int, str]:
    """The ports of one switch: number -> device."""
    hosts = network.clients() if clients else network.servers()
    middle = UP_PORT if clients else DOWN_PORT
    return {host.pair: host.switch_port for host in hosts} | {MIDDLE_PORT: middle}
