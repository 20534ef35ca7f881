# SPDX-License-Identifier: GPL-2.0-only
"""One way of the network: a clock, access links, a port, and what frames become on it.

The port is the queue's own core (bpf/), in user space.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from plan.atm import CELL_BYTES, TCP_IP_HEADER_BYTES, frame_cells
from plan.plan import Topology
from studies.ubrplus_1998.model.senders import Block
from topology import libcellq

# RFC 2018, section 3; two bytes of padding before it.
SACK_OPTION_BYTES, SACK_BLOCK_BYTES = 4, 8
NS_PER_S = 1_000_000_000
Action = Callable[[], None]


class Segment(NamedTuple):
    """Down data or nothing but an ACK, which is not read; up an ACK and perhaps a request."""

    byte: int = 0
    length: int = 0
    ack: int = 0
    sacked: tuple[Block, ...] = ()
    answer_bytes: int = 0  # of a request: what it asks for; 0: it is none

    @property
    def cells(self) -> int:
        return _cells(self.length, len(self.sacked))


@cache
def _cells(length: int, blocks: int) -> int:
    options = SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks if blocks else 0
    return frame_cells(TCP_IP_HEADER_BYTES + options + length)


class Frame(NamedTuple):
    """What its port made of a frame: a cause of libcellq; time at which its host sent it [ns]."""

    sent_ns: int
    vc: int
    cells: int
    cause: str


class Clock:
    """What is to happen, in order of time; at the same moment as it was asked for."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._due: list[tuple[int, int, Action]] = []
        self._asked = 0

    def at(self, time_ns: int, action: Action) -> None:
        self._asked += 1
        heapq.heappush(self._due, (time_ns, self._asked, action))

    def run(self, until_ns: int) -> None:
        while self._due and self._due[0][0] <= until_ns:
            self.now_ns, _, action = heapq.heappop(self._due)
            action()


class AccessLinks:
    """Those of all hosts on one side, one way: cell by cell, one frame after the other."""

    def __init__(self, topology: Topology) -> None:
        self.cell_ns = CELL_BYTES * 8 * NS_PER_S // topology.access_rate_bit_per_s
        self._delay_ns = topology.access_delay_ns
        self._free_ns: dict[int, int] = {}

    def last_bit_ns(self, vc: int, cells: int, now_ns: int) -> int:
        """When a frame that is sent now has arrived whole."""
        start = max(now_ns + self._delay_ns, self._free_ns.get(vc, 0))
        self._free_ns[vc] = start + cells * self.cell_ns
        return self._free_ns[vc]


class Way:
    """From the hosts of one side to those of the other: access link, port, delay, access link."""

    def __init__(
        self,
        clock: Clock,
        topology: Topology,
        port: libcellq.Queue,
        deliver: Callable[[int, Segment], None],
    ) -> None:
        self.frames: list[Frame] = []
        self._clock, self._port, self._deliver = clock, port, deliver
        self._into, self._out = AccessLinks(topology), AccessLinks(topology)
        self._delay_ns = topology.delay_ns

    def send(self, vc: int, segment: Segment) -> None:
        now_ns, cells = self._clock.now_ns, segment.cells
        self._port.step(libcellq.ANNOUNCE, vc, cells, now_ns)
        verdict_ns = self._into.last_bit_ns(vc, cells, now_ns)
        self._clock.at(verdict_ns, partial(self._judge, vc, cells, now_ns, segment))

    def _judge(self, vc: int, cells: int, sent_ns: int, segment: Segment) -> None:
        """The frames of a VC leave the port in the order of their verdicts."""
        result = self._port.step(libcellq.VERDICT, vc, cells, self._clock.now_ns)
        assert result.ok, self._port.stats().fault_counts()
        frame = result.frame
        cause = libcellq.CAUSES[frame.cause]
        self.frames.append(Frame(sent_ns, vc, cells, cause))
        if cause == "delivered":
            arrival_ns = self._out.last_bit_ns(vc, cells, frame.departure_ns + self._delay_ns)
            self._clock.at(arrival_ns, partial(self._deliver, vc, segment))
        elif segment.answer_bytes:
            raise RuntimeError(f"VC {vc}: the port up lost a request, which is not modelled")
