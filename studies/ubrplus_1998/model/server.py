# SPDX-License-Identifier: GPL-2.0-only
"""What answers requests: a sender, and when it acknowledges them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from studies.ubrplus_1998.model.connection import Connection
from studies.ubrplus_1998.model.links import NS_PER_S, Action, Clock, Segment
from studies.ubrplus_1998.model.senders import Departure, Setup

# TCP_ATO_MIN in ticks of the kernel (HZ 1000); a timer of so many ends with the next one.
TICK_NS, DELAYED_ACK_TICKS = 1_000_000, 40


def nginx_header_bytes(file_bytes: int) -> int:
    """Of an answer; its Content-Length has as many digits as the size."""
    return 113 + len(str(file_bytes))


class DelayedAck:
    """When the kernel acknowledges what comes to a sender of data.

    It waits a little for data to go with; not after it has waited in vain, until data left soon
    after something came (the kernel's "pingpong" mode, and TCP_ATO_MIN).
    """

    def __init__(self, clock: Clock, acknowledge: Action) -> None:
        self._clock, self._acknowledge = clock, acknowledge
        self._waits = True
        self._received_tick = 0
        self._due_ns: int | None = None

    def received(self) -> None:
        self._received_tick = self._tick()
        if not self._waits:
            self._acknowledge()
        elif self._due_ns is None:
            self._due_ns = (self._received_tick + DELAYED_ACK_TICKS + 1) * TICK_NS
            self._clock.at(self._due_ns, self._expire)

    def looked_at(self) -> None:
        """A segment with options has come: an ACK due within a quarter of its wait leaves now."""
        left = self._received_tick + DELAYED_ACK_TICKS - self._tick()
        late = left <= DELAYED_ACK_TICKS // 4
        if self._due_ns is not None and late:
            self._due_ns = None
            self._acknowledge()

    def data_sent(self) -> None:
        """With it goes the ACK."""
        self._due_ns = None
        if self._tick() - self._received_tick < DELAYED_ACK_TICKS:
            self._waits = True

    def _expire(self) -> None:
        if self._due_ns == self._clock.now_ns:
            self._due_ns = None
            self._waits = False
            self._acknowledge()

    def _tick(self) -> int:
        return self._clock.now_ns // TICK_NS


class Server(Connection):
    """Answers requests at once; acknowledges them with data, or by itself when there is none."""

    def __init__(
        self,
        setup: Setup,
        clock: Clock,
        send: Callable[[Segment], None],
        headers: bool,
    ) -> None:
        super().__init__(setup)
        self._clock, self._send, self._headers = clock, send, headers
        self._acks = DelayedAck(clock, partial(send, Segment()))
        self._due_ns: int | None = None  # when the timer is looked at next

    def arrive(self, segment: Segment) -> None:
        una = self.sender.una
        # An ACK with data is no duplicate one (RFC 5681, 2).
        if segment.ack > una or not segment.answer_bytes:
            self.on_ack(self._now_s, segment.ack, segment.sacked)
        if segment.sacked:
            self._acks.looked_at()
        if segment.answer_bytes:
            self._acks.received()
            header_bytes = nginx_header_bytes(segment.answer_bytes) if self._headers else 0
            self.write(self._now_s, header_bytes + segment.answer_bytes)
        self._set_timer()

    def transmit(self, now: float, departure: Departure, length: int) -> None:
        self._acks.data_sent()
        self._send(Segment(byte=departure.byte, length=length))

    @property
    def _now_s(self) -> float:
        return self._clock.now_ns / NS_PER_S

    def _set_timer(self) -> None:
        """Most timers are set again before they end: one look ahead does for all of them."""
        if self.timer_s is None:
            return
        end_ns = round(self.timer_s * NS_PER_S)
        if self._due_ns is None or end_ns < self._due_ns:
            self._due_ns = end_ns
            self._clock.at(end_ns, partial(self._look, end_ns))

    def _look(self, due_ns: int) -> None:
        if due_ns != self._due_ns:
            return
        self._due_ns = None
        if self.timer_s is not None and round(self.timer_s * NS_PER_S) <= due_ns:
            self.on_timeout(self.timer_s)
        self._set_timer()
