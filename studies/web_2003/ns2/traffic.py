# SPDX-License-Identifier: GPL-2.0-only
"""A trace of the project (docs/web-traffic.md) as ns-2 reads it.

ns-2 has packets of bytes, and the lab's link has cells. A packet without payload takes two cells
there and a full segment 32: with 97 bytes beside its payload it takes as long in ns-2, but for its
last cell, which is seldom full. The link's rate makes up for that: the whole trace takes the same
time on both links.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import RecordError
from plan.atm import CELL_BYTES, TCP_IP_HEADER_BYTES, frame_cells

NS_PER_S = 1e9
COLUMNS = "direction,connection,wait_ns,round_trip_ns,request_bytes,server_delay_ns,response_bytes"
CONTROL_PACKETS = 7
"""SYN, SYN/ACK, its ACK, and a FIN and its ACK each way."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection with one exchange; times in s.

    direction: of the response, "down" or "up".
    start_s: since the trial's start; half_s: half of its round trip.
    """

    direction: str
    number: int
    start_s: float
    half_s: float
    request_bytes: int
    server_delay_s: float
    response_bytes: int

    def line(self) -> str:
        """As web.tcl reads it."""
        return (
            f"{self.start_s:.9f} {self.direction} {self.number} {self.half_s:.10f}"
            f" {self.request_bytes} {self.server_delay_s:.9f} {self.response_bytes}\n"
        )

    def payloads(self, mss_bytes: int) -> Iterator[int]:
        """The payload of each packet of both ends, where none is lost and each is acknowledged."""
        yield from [0] * CONTROL_PACKETS
        for size in (self.request_bytes, self.response_bytes):
            whole, rest = divmod(size, mss_bytes)
            yield from [mss_bytes, 0] * whole
            yield from [rest, 0] if rest else []


def read(path: Path) -> list[Connection]:
    """The connections of a trace, in the order of their starts.

    Raises RecordError where the file is no trace, or a connection has more than one exchange:
    web.tcl carries HTTP/1.0 only.
    """
    try:
        with path.open(newline="", encoding="ascii") as stream:
            next(stream)
            *rows, last = list(csv.DictReader(stream))
        found = [_connection(row) for row in rows]
    except (OSError, ValueError, TypeError, KeyError, StopIteration) as error:
        raise RecordError(f"{path}: cannot read the trace: {error}") from None
    if (last["direction"], last["connection"]) != ("end", str(len(rows))):
        raise RecordError(f"{path}: the trace is cut short: its last line must be end,{len(rows)}")
    if len({(one.direction, one.number) for one in found}) < len(found):
        raise RecordError(f"{path}: a connection has two exchanges; ns-2 runs HTTP/1.0 only")
    return sorted(found, key=lambda one: one.start_s)


def _connection(row: dict[str, str]) -> Connection:
    return Connection(
        direction=row["direction"],
        number=int(row["connection"]),
        start_s=int(row["wait_ns"]) / NS_PER_S,
        half_s=int(row["round_trip_ns"]) / NS_PER_S / 2,
        request_bytes=int(row["request_bytes"]),
        server_delay_s=int(row["server_delay_ns"]) / NS_PER_S,
        response_bytes=int(row["response_bytes"]),
    )


def cell_bytes(payload: int) -> int:
    """Of a packet on the lab's link."""
    return CELL_BYTES * frame_cells(payload + TCP_IP_HEADER_BYTES)


def header_bytes(mss_bytes: int) -> int:
    """Beside its payload, so that a full packet is to an empty one as their cells are."""
    empty, full = cell_bytes(0), cell_bytes(mss_bytes)
    return round(mss_bytes * empty / (full - empty))


def rate_bit_per_s(
    trace: Iterable[Connection], link_bit_per_s: int, mss_bytes: int, header: int
) -> float:
    """The rate at which ns-2's packets of the whole trace take as long as the lab's cells.

    header: what they have beside their payload [bytes].
    """
    payloads = [payload for one in trace for payload in one.payloads(mss_bytes)]
    cells = sum(map(cell_bytes, payloads))
    return link_bit_per_s * (sum(payloads) + header * len(payloads)) / cells
