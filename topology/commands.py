# SPDX-License-Identifier: GPL-2.0-only
"""Writes the lines of `ip -batch` and `tc -batch` for the dumbbell, and its switches' flows. Pure.

One process runs hundreds of lines in one network namespace. With a process for each line, building
a network of 200 hosts would be slow. The settings of a host are requests over rtnetlink.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from plan.dumbbell import BOX as BOX
from plan.dumbbell import PORTS as PORTS
from plan.framing import Framing
from plan.layout import Host, Layout, Link, Middle
from topology import datapath, rtnetlink
from topology.rtnetlink import Device, Request

DOWN_PORT, UP_PORT = PORTS["down"], PORTS["up"]
# The ports of each box, in its own network namespace.
SAT_DOWN = "sat-sw2"  # the box's port towards the servers
SAT_UP = "sat-sw1"  # the box's port towards the clients
# netem must never drop: all drops belong to the queue under test.
NETEM_LIMIT_PACKETS = 1_000_000
FQ_LIMIT_PACKETS = 1_000_000
FQ_HORIZON_S = 1000
MIDDLE_PORT = 2000
LOOPBACK_IFINDEX = 1
SECOND_TABLE = 2


def host_link(host: Host, pid: int, mtu: int) -> Request:
    """Return the request for a veth pair: `switch_port` here, the host's device in `pid`'s."""
    port = Device(name=host.switch_port, index=host.switch_ifindex)
    own = Device(name=host.device, index=host.ifindex, mac=host.mac, pid=pid)
    return rtnetlink.veth(port, own, mtu)


def middle_link(middle: Middle, box_pid: int, mtu: int) -> list[Request]:
    """Return the requests for the two veth pairs between the switches and a box in the middle."""
    return [
        rtnetlink.veth(Device(name=port), Device(name=name, pid=box_pid), mtu)
        for port, name in ((middle.devices["down"], SAT_DOWN), (middle.devices["up"], SAT_UP))
    ]


def access_netem(device: str, access: Link) -> str:
    """Return netem's words for an access link: its rate, then the propagation delay.

    netem also orphans the packet: it removes the packet from the account of its socket, as a
    network card does after sending. Otherwise, TCP small queues would throttle the sender long
    before the queue under test is full.
    """
    rate_byte_per_s, *framing = access_rate(access)
    return (
        f"qdisc replace dev {device} root netem limit {NETEM_LIMIT_PACKETS} "
        f"delay {access.delay_ns}ns rate {rate_byte_per_s * 8}bit {' '.join(map(str, framing))}"
    )


def access_link(index: int, access: Link) -> Request:
    """Return the request for an access link at a device: what access_netem() says in words."""
    rate = struct.pack("=IiIi", *access_rate(access))
    return rtnetlink.netem(index, NETEM_LIMIT_PACKETS, access.delay_ns, rate)


def access_rate(access: Link) -> tuple[int, int, int, int]:
    """Return the fields of struct tc_netem_rate for an access link: the rate [byte/s], the overhead
    of a packet, the payload of a cell and the header of a cell [bytes]; 0 and 0: no cells.
    """
    return access.netem_byte_per_s, *netem_framing(access.framing)


def netem_framing(framing: Framing) -> tuple[int, int, int]:
    """Return netem's overhead of a packet, payload of a cell and header of a cell [bytes]."""
    payload, unit = framing.payload_bytes, framing.unit_bytes
    cell = (payload, unit - payload) if framing.has_cells else (0, 0)
    return framing.beside_ethernet_bytes, *cell


def host_settings(ends: Sequence[Host], access: Link) -> list[Request]:
    """Return the requests of one interface: up, address, neighbours, routes, access link.

    Packets from the address of a second interface have a routing table of their own, so that they
    leave through this interface.

    ends: those that use this interface.
    """
    host = ends[0]
    index = host.ifindex
    peers = [
        request
        for end in ends
        for request in (
            rtnetlink.neighbour(index, end.peer_ip, end.peer_mac),
            rtnetlink.route(index, end.peer_ip, end.ip, table=table_of(end)),
        )
    ]
    return [
        rtnetlink.link_up(LOOPBACK_IFINDEX),
        rtnetlink.address(index, host.ip, 8),
        rtnetlink.link_up(index),
        *peers,
        *([] if host.is_first else [rtnetlink.rule_from(host.ip, table_of(host))]),
        access_link(index, access),
    ]


def table_of(host: Host) -> int:
    """Return the routing table for packets from the address of an end."""
    return rtnetlink.MAIN_TABLE if host.is_first else SECOND_TABLE


def sat_redirects() -> list[str]:
    """Return the lines inside the box that forward packets from each port to the other port.

    Their priority (prio 10) leaves room for the program that watches the wire.
    """
    lines = []
    for source, target in ((SAT_DOWN, SAT_UP), (SAT_UP, SAT_DOWN)):
        lines += [f"qdisc add dev {source} ingress", redirect(source, target)]
    return lines


def redirect(source: str, target: str) -> str:
    """Return the line that forwards packets from a device with ingress qdisc to another."""
    return (
        f"filter add dev {source} ingress protocol all prio 10 matchall "
        f"action mirred egress redirect dev {target}"
    )


def no_redirect(source: str) -> str:
    """Return the line that removes redirect()."""
    return f"filter del dev {source} ingress protocol all prio 10 matchall"


def pair_in_box(near: str, far: str, mtu: int) -> list[str]:
    """Return the lines for ip inside the box: a veth pair with both ends in the box, set up."""
    return [
        f"link add name {near} mtu {mtu} gso_max_segs 1 type veth "
        f"peer name {far} mtu {mtu} gso_max_segs 1",
        *(f"link set {device} up" for device in (near, far)),
    ]


def sat_delay(middle: Link) -> list[str]:
    """Return the lines inside the box that put the one-way delay on both ports."""
    return [box_delay(device, middle) for device in (SAT_DOWN, SAT_UP)]


def constant_delay(index: int, middle: Link) -> Request:
    """Return the request for the one-way delay at a device: what box_delay() says in words."""
    return rtnetlink.netem(index, NETEM_LIMIT_PACKETS, middle.delay_ns)


def box_delay(device: str, middle: Link, rate: str = "") -> str:
    """Return the line that puts the one-way delay on one port; `rate` is in netem's words."""
    return (
        f"qdisc replace dev {device} root netem limit {NETEM_LIMIT_PACKETS} "
        f"delay {middle.delay_ns}ns {rate}"
    ).rstrip()


def departure_fq(device: str) -> str:
    """Return the line for fq, which holds each packet until the departure time of the cell queue.

    nopacing: fq ignores TCP's own pacing. timer_slack: packets leave without tolerance. horizon:
    10^6 cells at 1 Mbit/s take 424 s.
    """
    return (
        f"qdisc replace dev {device} root fq limit {FQ_LIMIT_PACKETS} "
        f"flow_limit {FQ_LIMIT_PACKETS} nopacing timer_slack 0 horizon {FQ_HORIZON_S}s horizon_drop"
    )


def departures(index: int) -> Request:
    """Return the request for fq at a device: what departure_fq() says in words."""
    limit = FQ_LIMIT_PACKETS
    return rtnetlink.fq(index, limit=limit, flow_limit=limit, horizon_s=FQ_HORIZON_S)


def switch_flows(network: Layout, switch: str) -> list[bytes]:
    """Return the flows (topology/datapath.py) of one switch. It drops all other packets.

    Packets from a host: the host's port determines the way out, and the VC number, which becomes
    the packet mark. If a port has several peers, the destination's address also determines both.
    Packets from a middle link: the destination's Ethernet address determines the port, which leads
    to a host or to the next middle link.
    """
    out = {device: number for number, device in switch_ports(network, switch).items()}
    ends = [end for end in network.ends() if end.switch == switch]
    own = [(out[e.switch_port], e, out[beside(network, e).device_at(switch)]) for e in ends]
    several = Counter(port for port, _, _ in own)
    to = {port: several[port] > 1 for port in several}
    flows = [
        *(
            datapath.flow(port, middle, mark=end.pair, to_mac=end.peer_mac if to[port] else "")
            for port, end, middle in own
        ),
        *(datapath.flow(middle, port, to_mac=end.mac) for port, end, middle in own),
        *passing(network, switch, out),
    ]
    return list(dict.fromkeys(flows))


def beside(network: Layout, host: Host) -> Middle:
    """Return the middle link at a host's own switch."""
    return network.route(host.pair)[-1 if host.is_client else 0]


def passing(network: Layout, switch: str, out: Mapping[str, int]) -> Iterator[bytes]:
    """Yield the flows of packets that go from one middle link to the next one.

    out: device of a port -> its number.
    """
    for client, server in zip(network.clients(), network.servers(), strict=True):
        for before, after in pairwise(network.route(client.pair)):
            if after.near == switch:
                back, on = out[before.devices["up"]], out[after.devices["down"]]
                yield datapath.flow(back, on, to_mac=client.mac)
                yield datapath.flow(on, back, to_mac=server.mac)


def switch_ports(network: Layout, switch: str) -> dict[int, str]:
    """Return the ports of one switch: number -> device."""
    hosts = [host for host in network.hosts() if host.switch == switch]
    middles = [one for one in network.middles() if switch in (one.near, one.far)]
    return {host.port_pair: host.switch_port for host in hosts} | {
        MIDDLE_PORT + at: one.device_at(switch) for at, one in enumerate(middles)
    }
