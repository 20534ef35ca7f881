# SPDX-License-Identifier: GPL-2.0-only
"""A switch of the kernel module of Open vSwitch, set up over generic netlink.

ovs-vswitchd could set it up too. But it asks 15 times for the link of each port, which is 44,900
system calls for 100 pairs. In this module, each call makes hundreds of ports or flows. No packet
goes through user space: the kernel drops a packet that matches no flow.
Layouts and numbers are those of linux/genetlink.h and linux/openvswitch.h.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping

from topology import netlink, rtnetlink
from topology.netlink import HEADER, RECEIVE_BYTES
from topology.rtnetlink import CREATE, NetlinkError, Request, attribute, u32

NETLINK_GENERIC = 16
CONTROL, GET_FAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2
GENERIC = struct.Struct("=BBxx")  # command, version
DATAPATH, VPORT, FLOW = "ovs_datapath", "ovs_vport", "ovs_flow"
VERSIONS = {DATAPATH: 2, VPORT: 1, FLOW: 1}
HEAD = struct.Struct("=BBxxi")  # command, version, index of the switch's own device
NEW, DELETE = 1, 2
# Attributes of a switch, and of a port.
NAME, UPCALLS = 1, 2
PORT_NUMBER, PORT_TYPE, PORT_NAME, PORT_UPCALLS = 1, 2, 3, 5
# Attributes of a flow, of its key and of its actions.
KEY, ACTIONS, MASK = 1, 2, 7
IN_PORT, ETHERNET, MARK = 3, 4, 15
OUTPUT, SET = 1, 3
ALL, NONE = b"\xff" * 6, bytes(6)


def switch(name: str) -> bytes:
    """Return the body of a request for a switch, which is also a device of this name."""
    return attribute(NAME, text(name)) + attribute(UPCALLS, u32(0))


def port(number: int, device: str) -> bytes:
    """Return the body of a request for a port: a device of the same namespace."""
    is_device = 1
    return (
        attribute(PORT_NUMBER, u32(number))
        + attribute(PORT_TYPE, u32(is_device))
        + attribute(PORT_NAME, text(device))
        + attribute(PORT_UPCALLS, u32(0))
    )


def flow(in_port: int, out_port: int, *, to_mac: str = "", mark: int = 0) -> bytes:
    """Return the body of a request for a flow: all packets of a port, or only those to one address.

    mark: the mark that the flow writes into its packets; 0 leaves the mark as it is.
    """
    to = bytes.fromhex(to_mac.replace(":", "")) or NONE
    key = attribute(IN_PORT, u32(in_port)) + attribute(ETHERNET, NONE + to)
    mask = attribute(IN_PORT, u32(0xFFFFFFFF))
    mask += attribute(ETHERNET, NONE + (ALL if to_mac else NONE))
    actions = attribute(SET, attribute(MARK, u32(mark))) if mark else b""
    actions += attribute(OUTPUT, u32(out_port))
    return attribute(KEY, key) + attribute(MASK, mask) + attribute(ACTIONS, actions)


class Datapath:
    """The switches of the present network namespace."""

    def __init__(self) -> None:
        self._link = netlink.open_here(NETLINK_GENERIC)
        self._families = {name: family(self._link, name) for name in VERSIONS}

    def make(self, name: str, ports: Mapping[int, str], flows: Iterable[bytes]) -> None:
        """Make a switch.

        Args:
            name: the name of the switch and of its own device.
            ports: number -> the device that becomes this port.
            flows: bodies from flow().

        Raises:
            NetlinkError: the kernel refused a request.
        """
        rtnetlink.apply(self._link, [self._new(DATAPATH, 0, switch(name), f"switch {name}")])
        index = socket.if_nametoindex(name)
        requests = [
            self._new(VPORT, index, port(number, device), f"port {device} of switch {name}")
            for number, device in ports.items()
        ]
        requests += [self._new(FLOW, index, body, f"a flow of switch {name}") for body in flows]
        rtnetlink.apply(self._link, requests)

    def remove(self, name: str) -> None:
        """Remove a switch; the devices of its ports stay."""
        head = HEAD.pack(DELETE, VERSIONS[DATAPATH], socket.if_nametoindex(name))
        family = self._families[DATAPATH]
        rtnetlink.apply(self._link, [Request(f"the end of switch {name}", family, 0, head)])

    def _new(self, family: str, index: int, body: bytes, words: str) -> Request:
        head = HEAD.pack(NEW, VERSIONS[family], index)
        return Request(words, self._families[family], CREATE, head + body)


def family(link: socket.socket, name: str) -> int:
    """Return the message type of a generic netlink family. The kernel loads the module if needed.

    Raises:
        NetlinkError: this kernel has no such family.
    """
    body = GENERIC.pack(GET_FAMILY, 1) + attribute(FAMILY_NAME, text(name))
    link.send(HEADER.pack(HEADER.size + len(body), CONTROL, rtnetlink.REQUEST, 0, 0) + body)
    [(kind, message), *_] = netlink.messages(link.recv(RECEIVE_BYTES))
    if kind == netlink.NLMSG_ERROR:
        raise NetlinkError(f"this kernel has no {name}: load the module openvswitch")
    found = dict(netlink.attributes(message, GENERIC.size))
    (number,) = struct.unpack("=H", found[FAMILY_ID])
    return int(number)


def text(name: str) -> bytes:
    """Return a name in the form of an attribute."""
    return name.encode() + b"\0"
