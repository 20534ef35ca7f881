# SPDX-License-Identifier: GPL-2.0-only
"""TCP as the kernel counts it: a host's totals from /proc, its connections from `ss`.

Each host has a network namespace of its own, so its totals are those of its one flow.
"""

from __future__ import annotations

import re
from pathlib import Path

from topology.run import in_namespace, run

NETSTAT = {"timeouts": "TcpExt:TCPTimeouts", "retransmits": "Tcp:RetransSegs"}


def totals(pid: int) -> dict[str, int]:
    """Timeouts and segments sent again so far, in the namespace of a process."""
    found: dict[str, int] = {}
    for name in ("netstat", "snmp"):
        found |= parse_totals(Path(f"/proc/{pid}/net/{name}").read_text())
    return {name: found[counter] for name, counter in NETSTAT.items()}


def parse_totals(text: str) -> dict[str, int]:
    """"GROUP:NAME" -> value, from pairs of lines of names and of values."""
    lines = text.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *keys = names.split()
        for key, value in zip(keys, values.split()[1:], strict=True):
            found[group + key] = int(value)
    return found


def connections(pid: int) -> list[dict[str, str]]:
    """What `ss` says of each established connection in the namespace of a process."""
    with in_namespace(pid):
        return parse_connections(run(["ss", "-tinHO", "state", "established"]))


def parse_connections(text: str) -> list[dict[str, str]]:
    """One dictionary a line: the words NAME:VALUE, the times' decimals included."""
    return [dict(re.findall(r"(\w+):([^\s:]+)(?=\s|$)", line)) for line in text.splitlines()]


def busiest(pid: int, counter: str) -> dict[str, str]:
    """The connection with the largest `counter` of bytes; empty when there is none."""
    found = connections(pid)
    return max(found, key=lambda one: int(one.get(counter, 0)), default={})
