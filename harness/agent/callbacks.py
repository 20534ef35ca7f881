# SPDX-License-Identifier: GPL-2.0-only
"""Does this kernel call the TCP module's functions in the order that they rely on?

The module finds out with the first ACK that it sees, and cannot refuse a connection. So
one segment is sent over a loopback device of its own before the first trial.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

from harness.agent.flavor import FlavorError
from topology import netlink, rtnetlink

MODULE = "cellbed_tcp"
PARAMETERS = Path("/sys/module", MODULE, "parameters")
CONTROL = b"cellbed_reno"
ACK_S = 5.0
STEP_S = 0.001


def check(parameters: Path = PARAMETERS) -> None:
    """Refuse a kernel with another order.

    Raises:
        FlavorError: the order is another one, or no ACK has shown it.
    """
    if order(parameters) == "unknown":
        send_one_segment()
    until = time.monotonic() + ACK_S
    while order(parameters) == "unknown" and time.monotonic() < until:
        time.sleep(STEP_S)
    found = order(parameters)
    if found != "right":
        raise FlavorError(
            f"the order of calls in tcp_ack() of kernel {os.uname().release} is {found}:"
            f" the flavors of {MODULE} need a kernel that cleans the retransmission queue before"
            " in_ack_event(), as Debian's 6.12 does from 6.12.32 on"
        )


def order(parameters: Path = PARAMETERS) -> str:
    """ "unknown", "right" or "wrong", as the module has seen it."""
    return (parameters / "callback_order").read_text().strip()


def send_one_segment() -> None:
    """From the module's sender, in a network namespace that vanishes."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    os.unshare(os.CLONE_NEWNET)
    try:
        with netlink.open_here() as link:
            rtnetlink.apply(link, [rtnetlink.link_up(rtnetlink.LOOPBACK)])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            sender = socket.create_connection(listener.getsockname())
            receiver, _ = listener.accept()
        with sender, receiver:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONTROL)
            sender.send(b"1")
            receiver.recv(1)
            for end in (sender, receiver):  # by reset: nothing of it stays
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(home)
