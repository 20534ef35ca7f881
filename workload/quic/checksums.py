# SPDX-License-Identifier: GPL-2.0-only
"""Lets the hosts write the checksum into each UDP packet, as on a link between two machines.

A virtual device leaves it out by default. Then two packets of QUIC with the same length have the
same headers, and the checks of a moving path (harness/records/moving.py) take one for the other.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from workload.source import Testbed

# linux/sockios.h, linux/ethtool.h, linux/if.h
SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17
VALUE = struct.Struct("=II")
REQUEST = struct.Struct("@16sP16x")


@contextmanager
def written(testbed: Testbed) -> Iterator[None]:
    """Let all hosts write them for the duration of a `with`."""
    pids = [testbed.server_pid(host.pair) for host in testbed.servers]
    pids += [testbed.client_pid(host.pair) for host in testbed.clients]
    try:
        leave_out(testbed, pids, 0)
        yield
    finally:
        leave_out(testbed, pids, 1)


def leave_out(testbed: Testbed, pids: list[int], on: int) -> None:
    """Let the device of each of these namespaces leave checksums out (1), or write them (0)."""
    value = ctypes.create_string_buffer(VALUE.pack(ETHTOOL_STXCSUM, on))
    request = REQUEST.pack(b"eth0", ctypes.addressof(value))
    for pid in pids:
        with testbed.inside(pid), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)
