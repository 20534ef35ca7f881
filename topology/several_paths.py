# SPDX-License-Identifier: GPL-2.0-only
"""Tells the kernel's path manager of MPTCP the addresses of hosts with several links.

A client opens a subflow from each of its other addresses to the address of its server (RFC 8684,
section 3.2). Its packets leave through the interface of their address (commands.host_settings()).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topology.build import Network
from topology.run import in_namespace, run

ENABLED = Path("/proc/sys/net/mptcp/enabled")


@contextmanager
def joined(network: Network) -> Iterator[None]:
    """Let each connection use all addresses of its client for the duration of a `with`.

    Raises:
        RuntimeError: the lab's kernel has no MPTCP.
    """
    layout, several = network.layout, bundles(network)
    if several and not ENABLED.exists():
        raise RuntimeError(
            "this lab's kernel has no MPTCP, which topology.links_used = both needs: set it to"
            " link1 or link2, or use the lab uml"
        )
    clients, servers = layout.clients(), layout.servers()
    for pairs in several:
        first = pairs[0] - 1
        for end in (clients[first], servers[first]):
            with in_namespace(network.pids[end.name]):
                limit(len(pairs) - 1)
        with in_namespace(network.pids[clients[first].name]):
            for pair in pairs[1:]:
                run(["ip", "mptcp", "endpoint", "add", clients[pair - 1].ip, "subflow"])
    try:
        yield
    finally:
        for pairs in several:
            with in_namespace(network.pids[clients[pairs[0] - 1].name]):
                run(["ip", "mptcp", "endpoint", "flush"])


def leave_first(network: Network) -> None:
    """Let the path manager of each client with several addresses remove the first one.

    The kernel closes the subflow and sends REMOVE_ADDR (RFC 8684, section 3.4.2). The data that was
    on its way goes again over another subflow.
    """
    for pairs in bundles(network):
        client = network.layout.clients()[pairs[0] - 1]
        with in_namespace(network.pids[client.name]):
            run(["ip", "mptcp", "endpoint", "delete", "id", "0", client.ip])


def bundles(network: Network) -> list[tuple[int, ...]]:
    """Return the pairs of each connection with several paths."""
    kinds = network.layout.bundles().values()
    return [one for several in kinds for one in several if len(one) > 1]


def limit(subflows: int) -> None:
    """Set how many subflows a connection of this namespace may have beside its first one."""
    run(["ip", "mptcp", "limits", "set", "subflows", str(subflows), "add_addr_accepted", "0"])
