# SPDX-License-Identifier: GPL-2.0-only
"""The program on the box in the middle: where it is, its queues, its command, its counters.

1. in the box's namespace: run `queues()` by tc
2. there: start `argv()` and wait for the line "ready"
3. the trial
4. SIGTERM: the last line of its output is what `read()` takes
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from topology import commands

PROGRAM = Path("/opt/cellbed/delays")
# direction -> the box's devices: comes in, goes out, and the two ends of the pair between them.
STAGES = {
    "down": (commands.SAT_DOWN, commands.SAT_UP, "down0", "down1"),
    "up": (commands.SAT_UP, commands.SAT_DOWN, "up0", "up1"),
}
DEVICES = (commands.SAT_DOWN, commands.SAT_UP)
FLOW_MASK = 0xFFFF_FFFF
FORMAT = "cellbed-delays/1"


@dataclass(frozen=True, kw_only=True)
class Counters:
    """What became of the packets on both ways.

    connections  in the table
    to_server, to_client  delayed
    not_tcp      let through at once
    unknown      dropped: TCP of a connection that the table does not have
    refused      dropped: the kernel took no departure time
    """

    connections: int
    to_server: int
    to_client: int
    not_tcp: int
    unknown: int
    refused: int

    @property
    def faults(self) -> int:
        """Packets dropped here: any makes a trial invalid."""
        return self.unknown + self.refused


def queues() -> list[str]:
    """Inside the box, lines for tc: on both ports a queue that keeps departure times.

    fq holds all that it takes for one flow until the packet it waits for may leave, and it tells
    flows apart by bits of a hash, 10 by default. With all 32 bits, and the connection's number as
    the hash (bpf/delays), each connection is a flow.
    """
    return [f"{commands.departure_fq(device)} orphan_mask {FLOW_MASK}" for device in DEVICES]


def argv(table: Path) -> list[str]:
    """Return the command, for the box's namespace."""
    devices = [word for device in DEVICES for word in ("--device", device)]
    return [str(PROGRAM), "--table", str(table), *devices]


def read(stdout: str) -> Counters:
    """Return what the program counted, from its whole standard output.

    Raises:
        ValueError: it did not end well.
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
