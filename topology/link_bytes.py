# SPDX-License-Identifier: GPL-2.0-only
"""Counts the bytes that links have carried: all devices of a namespace in one dump.

Layouts and numbers are those of linux/rtnetlink.h and if_link.h.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from plan.atm import ETHERNET_HEADER_BYTES
from plan.layout import Host
from topology import netlink

RTM_GETSTATS, IFLA_STATS_LINK_64 = 94, 1
STATS = struct.Struct("=BxHII")  # if_stats_msg: family, index, mask of the wanted tables
TOTALS = struct.Struct("=8x Q 8x Q")  # rtnl_link_stats64: packets and bytes sent


def delivered(link: socket.socket, hosts: Sequence[Host]) -> list[int]:
    """Return the bytes of IP packets that each host's switch port has sent to it since it was made.

    link: a socket of NETLINK_ROUTE in the switches' namespace.
    """
    return sent(link, [host.switch_ifindex for host in hosts])


def sent(link: socket.socket, ports: Sequence[int]) -> list[int]:
    """Return the bytes of IP packets that the devices of these indices have sent."""
    wanted = STATS.pack(0, 0, 0, 1 << (IFLA_STATS_LINK_64 - 1))
    by_index: dict[int, int] = {}
    for message in netlink.dump(link, RTM_GETSTATS, wanted):
        _, _, index, _ = STATS.unpack_from(message)
        [counted] = netlink.find(message, STATS.size, IFLA_STATS_LINK_64)
        packets, total = TOTALS.unpack_from(counted)
        by_index[index] = total - packets * ETHERNET_HEADER_BYTES
    return [by_index[index] for index in ports]
