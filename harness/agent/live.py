# SPDX-License-Identifier: GPL-2.0-only
"""What the agent tells of a trial that somebody looks at, beside the tables that it records."""

from __future__ import annotations

import socket

from harness.agent.events import RUN
from topology import link_bytes
from topology.build import Network

# As harness/hold.py names it; there while somebody looks.
WATCHED = RUN / "inbox" / "watched.json"


def counters(network: Network) -> dict[str, list[int]]:
    """Bytes delivered to each client so far; nothing when nobody looks.

    Reading them takes no virtual time: a trial that is looked at is the same.
    """
    if not WATCHED.exists():
        return {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        return {"ip_bytes": link_bytes.delivered(link, network.layout.clients())}
