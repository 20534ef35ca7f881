# SPDX-License-Identifier: GPL-2.0-only
"""One model sender over a link of its own: a rate, a delay, an unlimited queue, exact losses.

The senders are those of studies/ubrplus_1998/model. All data is there from the start; the receiver
acknowledges every segment at once.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from studies.ubrplus_1998.model.connection import SENDERS, Connection, Estimator
from studies.ubrplus_1998.model.receiver import Receiver
from studies.ubrplus_1998.model.senders import DUPTHRESH, Block, Departure, Setup

__all__ = ["DUPTHRESH", "SENDERS", "Estimator", "Sent", "Setup", "Simulation", "simulate"]
HEADERS_BYTES = 54  # IP, TCP and Ethernet, without options


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One sending: bytes byte to byte + length; which sending of its segment, from 0."""

    time_s: float
    byte: int
    length: int
    sending: int


class Simulation(Connection):
    """The link and the receiver around one connection."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.receiver = Receiver()
        self.sent: list[Sent] = []
        self._sendings: dict[int, int] = {}  # by number of the segment
        self._events: list[tuple[float, int, int, tuple[Block, ...], bool]] = []
        self._order = 0
        self._link_free_s = 0.0

    def run(self, limit_s: float = 300.0) -> list[Sent]:
        """Until all is acknowledged.

        Raises:
            RuntimeError: not within limit_s.
        """
        self.write(0.0, 0)
        while self.sender.una < self.setup.total_bytes:
            now = self._step()
            if now > limit_s:
                raise RuntimeError(f"not finished after {limit_s} s")
        return self.sent

    def _step(self) -> float:
        arrival = self._events[0][0] if self._events else None
        if arrival is None or (self.timer_s is not None and self.timer_s < arrival):
            assert self.timer_s is not None
            now = self.timer_s
            self.on_timeout(now)
            return now
        now, _, ack, sacked, echo = heapq.heappop(self._events)
        self.on_ack(now, ack, sacked, echo)
        return now

    def transmit(self, now: float, departure: Departure, length: int) -> None:
        """The link keeps the order, so what is sent first is also received first."""
        byte = departure.byte
        number = byte // self.setup.mss
        sending = self._sendings.get(number, 0)
        self._sendings[number] = sending + 1
        self.sent.append(Sent(time_s=now, byte=byte, length=length, sending=sending))
        if sending in self.setup.drops.get(number, ()):
            return
        bits = 8 * (length + HEADERS_BYTES)
        self._link_free_s = max(self._link_free_s, now) + bits / self.setup.rate_bit_per_s
        marked = departure.ect and sending in self.setup.marks.get(number, ())
        ack, blocks = self.receiver.receive(byte, length, marked=marked, cwr=departure.cwr)
        sacked = blocks if self.setup.flavor == "sack" else ()
        self._order += 1
        arrival = self._link_free_s + 2 * self.setup.delay_s
        heapq.heappush(self._events, (arrival, self._order, ack, sacked, self.receiver.echo))


def simulate(setup: Setup) -> Simulation:
    """The finished simulation of a connection."""
    simulation = Simulation(setup)
    simulation.run()
    return simulation
