# SPDX-License-Identifier: GPL-2.0-only
"""The program on the box in the middle: its path, its queues, its command, its counters.

1. in the box's namespace: run `queues()` by tc
2. there: start `argv()` and wait for the line "ready"
3. the trial
4. SIGTERM: the program prints its counters in its last line, which `read()` reads
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from topology import commands

PROGRAM = Path("/opt/cellbed/delays")
# direction -> the box's devices: the input, the output, and both ends of the pair between them.
STAGES = {
    "down": (commands.SAT_DOWN, commands.SAT_UP, "down0", "down1"),
    "up": (commands.SAT_UP, commands.SAT_DOWN, "up0", "up1"),
}
DEVICES = (commands.SAT_DOWN, commands.SAT_UP)
FLOW_MASK = 0xFFFF_FFFF
FORMAT = "cellbed-delays/1"


@dataclass(frozen=True, kw_only=True)
class Counters:
    """The counts of packets in both directions.

    connections  entries in the table
    to_server, to_client  delayed
    not_tcp      forwarded at once
    unknown      dropped: TCP packets of a connection that the table does not have
    refused      dropped: the kernel accepted no departure time
    """

    connections: int
    to_server: int
    to_client: int
    not_tcp: int
    unknown: int
    refused: int

    @property
    def faults(self) -> int:
        """The packets that the program dropped. One such packet makes a trial invalid."""
        return self.unknown + self.refused


def queues() -> list[str]:
    """Return the lines for tc inside the box: on both ports a queue that keeps departure times.

    fq holds all packets of a flow until the departure of the flow's first packet. It tells flows
    apart by bits of a hash, by default 10 bits. With all 32 bits, and with the connection's number
    as the hash (bpf/delays), each connection is a flow of its own.
    """
    return [f"{commands.departure_fq(device)} orphan_mask {FLOW_MASK}" for device in DEVICES]


def argv(table: Path) -> list[str]:
    """Return the command, which runs in the box's namespace."""
    devices = [word for device in DEVICES for word in ("--device", device)]
    return [str(PROGRAM), "--table", str(table), *devices]


def read(stdout: str) -> Counters:
    """Return the program's counters from its whole standard output.

    Raises:
        ValueError: the program failed.
    """
    last = stdout.strip().rpartition("\n")[2]
    try:
        found = json.loads(last)
        if found.pop("format") == FORMAT:
            return Counters(**{field.name: int(found[field.name]) for field in fields(Counters)})
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ValueError(
        f"the program delays left no counters; its last line is: {last[:200] or 'empty'}"
    )
