# SPDX-License-Identifier: GPL-2.0-only
"""A sender with its timer and its estimator of round-trip times."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, takewhile

from studies.ubrplus_1998.model.sack import Sack
from studies.ubrplus_1998.model.senders import Block, Departure, NewReno, Reno, Setup, Vanilla

SENDERS: dict[str, type[Vanilla]] = {
    "vanilla": Vanilla,
    "reno": Reno,
    "newreno": NewReno,
    "sack": Sack,
}


class Estimator:
    """The RTO in ticks: 4.4BSD's tcp_xmit_timer(), Karn's rule, doubling."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._srtt = 0  # eighths
        self._rttvar = 0  # quarters
        self._backoff = 0

    def sample(self, rtt_s: float) -> None:
        ticks = 1 + int(rtt_s / self._setup.tick_s + 1e-9)
        if self._srtt == 0:
            self._srtt, self._rttvar = ticks * 8, ticks * 2
            return
        delta = ticks - 1 - self._srtt // 8
        self._srtt = max(self._srtt + delta, 1)
        self._rttvar = max(self._rttvar + abs(delta) - self._rttvar // 4, 1)

    def clear_backoff(self) -> None:
        self._backoff = 0

    def back_off(self) -> None:
        self._backoff += 1

    def rto_s(self) -> float:
        base = self._setup.first_rto_s
        if self._srtt:
            ticks = max(self._srtt // 8 + self._rttvar, self._setup.min_ticks)
            base = ticks * self._setup.tick_s
        return base * 2.0**self._backoff


class Connection:
    """A sender, its timer and its estimator; transmit() is the network's."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.sender = SENDERS[setup.flavor](setup)
        self.rto = Estimator(setup)
        self.timer_s: float | None = None
        self._sent: list[tuple[int, int, float, bool]] = []  # bytes, first sending, sent again
        self._timed = 0  # an ACK beyond it gives the next RTT sample

    def transmit(self, now: float, departure: Departure, length: int) -> None:
        raise NotImplementedError

    def write(self, now: float, count: int) -> None:
        """The application has bytes to send."""
        self.sender.total_bytes += count
        self.sender.send()
        self._flush(now, restart=False)

    def on_timeout(self, now: float) -> None:
        self.sender.timeout()
        self.rto.back_off()
        self._flush(now, restart=True)

    def on_ack(self, now: float, ack: int, sacked: tuple[Block, ...], echo: bool = False) -> None:
        una = self.sender.una
        if ack > una:
            self._measure(now, ack)
        self.sender.ack(ack, sacked, echo)
        first_again = any(departure.byte == self.sender.una for departure in self.sender.outbox)
        restart = self.sender.una > una or first_again
        self._flush(now, restart=restart)

    def _measure(self, now: float, ack: int) -> None:
        """Karn: no sample from an ACK that covers a segment sent twice."""
        covered = list(takewhile(lambda piece: piece[0] < ack, self._sent))
        self._sent = [p for p in covered if p[1] > ack] + self._sent[len(covered) :]
        if any(again for *_, again in covered) or not self.sender.may_be_timed():
            return
        self.rto.clear_backoff()
        if ack > self._timed:
            self.rto.sample(now - max(sent for _, _, sent, _ in covered))
            self._timed = self.sender.max

    def _flush(self, now: float, *, restart: bool) -> None:
        for departure in self.sender.outbox:
            length = self.sender.lengths[departure.byte]
            self._note(now, departure.byte, departure.byte + length)
            self.transmit(now, departure, length)
        self.sender.outbox.clear()
        if self.sender.max == self.sender.una:
            self.timer_s = None
        elif restart or self.timer_s is None:
            self.timer_s = now + self.rto.rto_s()

    def _note(self, now: float, start: int, end: int) -> None:
        """When each byte that is not acknowledged was sent first, and whether it was again."""
        known = self._sent[-1][1] if self._sent else start
        if start < known:
            self._sent = list(self._resent(start, end))
        if end > known:
            self._sent.append((max(start, known), end, now, start < known))

    def _resent(self, start: int, end: int) -> Iterator[tuple[int, int, float, bool]]:
        """The same pieces, but what lies from start to end was sent again."""
        for first, last, sent, again in self._sent:
            if last <= start or end <= first:
                yield first, last, sent, again
                continue
            cuts = sorted({first, last, *(cut for cut in (start, end) if first < cut < last)})
            for a, b in pairwise(cuts):
                yield a, b, sent, again or start <= a < end
