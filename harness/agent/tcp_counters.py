# SPDX-License-Identifier: GPL-2.0-only
"""TCP as the kernel counts it: a host's totals from /proc, its connections from `ss`.

Each host has a network namespace of its own, so its totals are those of its one flow.
"""

from __future__ import annotations

import re

from harness.agent.procfs import text
from topology.run import in_namespace, run

MPTCP = "MPTcpExt:"
NETSTAT = {"timeouts": "TcpExt:TCPTimeouts", "retransmits": "Tcp:RetransSegs"}


def totals(pid: int) -> dict[str, int]:
    """Timeouts and segments sent again so far, in the namespace of a process."""
    found: dict[str, int] = {}
    for name in ("netstat", "snmp"):
        found |= parse_totals(text(f"/proc/{pid}/net/{name}"))
    return {name: found[counter] for name, counter in NETSTAT.items()}


def mptcp_totals(pid: int) -> dict[str, int]:
    """What MPTCP has counted so far, in the namespace of a process; empty: there is no MPTCP."""
    found = parse_totals(text(f"/proc/{pid}/net/netstat"))
    return {
        name.removeprefix(MPTCP): value for name, value in found.items() if name.startswith(MPTCP)
    }


def parse_totals(text: str) -> dict[str, int]:
    """ "GROUP:NAME" -> value, from pairs of lines of names and of values."""
    lines = text.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *keys = names.split()
        for key, value in zip(keys, values.split()[1:], strict=True):
            found[group + key] = int(value)
    return found


def connection(pid: int, port: int) -> dict[str, str]:
    """What `ss` says of the established connection with this port at either of its ends.

    In the namespace of a process; empty when there is none.
    """
    with in_namespace(pid):
        return with_port(run(["ss", "-tinHO", "state", "established"]), port)


def with_port(text: str, port: int) -> dict[str, str]:
    """The words NAME:VALUE, the times' decimals included, of the line with this port."""
    for line in text.splitlines():
        _, _, local, peer, *words = line.split()
        if str(port) in (local.rpartition(":")[2], peer.rpartition(":")[2]):
            return dict(re.findall(r"(\w+):([^\s:]+)(?=\s|$)", " ".join(words)))
    return {}
