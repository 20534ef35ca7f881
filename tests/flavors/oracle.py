# SPDX-License-Identifier: GPL-2.0-only
"""A segment-level model of the four senders, written from the RFCs and 98-0876R1.

It knows nothing of the kernel: its variables are those of the texts (snd_una, snd_nxt,
cwnd in segments with the inflation of fast recovery, recover, PIPE). One sender, one
receiver that acknowledges every segment at once, a link with a rate and a delay, an
unlimited queue, exact losses. All data is there from the start.

    Vanilla  slow start and congestion avoidance (Jacobson 1988), timeouts
    Reno     RFC 2581, 3.2
    NewReno  RFC 6582, 3.2, steps 1 to 6; step 3's full ACK: cwnd = ssthresh
    SACK     98-0876R1, 3.2 (PIPE), or RFC 6675 ("three_above")

What the texts leave open is chosen here, and is the same in the module:

* ssthresh on a loss: max(min(cwnd, flight) / 2, 2), rounded down. RFC 2581 has flight / 2.
* A timeout halves ssthresh unless the same segment timed out before (RFC 5681, 3.1).
* A timeout sends everything from snd_una again, as the window allows, and skips what an
  ACK shows to have arrived; duplicate ACKs start no fast retransmit until an ACK covers
  more than was outstanding at the timeout (RFC 2582's bug fix, RFC 6582 step 2).
* The ACK that ends a recovery does not grow the window.
* SACK enters recovery on the third segment known to have arrived above snd_una, which is
  the third duplicate ACK when none was SACKed before it (RFC 6675, 5, step 2).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

DUPTHRESH = 3
SACK_BLOCKS = 4
HEADERS_BYTES = 54  # IP, TCP and Ethernet, without options


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A connection to be modelled; times in seconds, sizes in segments."""

    flavor: str
    segments: int
    initcwnd: int
    ssthresh: int
    drops: Mapping[int, frozenset[int]]
    payload_bytes: int = 1000
    rate_bit_per_s: float = 10e6
    delay_s: float = 0.05
    tick_s: float = 0.1
    min_ticks: int = 2
    first_rto_s: float = 3.0
    sack_rule: str = "pipe"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One sending of a segment."""

    time_s: float
    segment: int
    sending: int


@dataclass(kw_only=True)
class Receiver:
    """Acknowledges each segment; reports blocks as RFC 2018, section 4: latest first."""

    next: int = 0
    above: set[int] = field(default_factory=set)
    recent: list[int] = field(default_factory=list)

    def receive(self, segment: int) -> tuple[int, frozenset[int]]:
        if segment > self.next or segment in self.above:
            self.above.add(segment)
            self.recent = [segment] + [s for s in self.recent if s != segment]
        elif segment == self.next:
            self.next += 1
            while self.next in self.above:
                self.above.remove(self.next)
                self.next += 1
        self.recent = [s for s in self.recent if s in self.above]
        return self.next, self.blocks()

    def blocks(self) -> frozenset[int]:
        """Segments of at most four blocks, by their latest arrival."""
        reported: set[int] = set()
        count = 0
        for segment in self.recent:
            if segment in reported:
                continue
            if count == SACK_BLOCKS:
                break
            count += 1
            reported |= self._block(segment)
        return frozenset(reported)

    def _block(self, segment: int) -> set[int]:
        block = {segment}
        for step in (-1, 1):
            at = segment + step
            while at in self.above:
                block.add(at)
                at += step
        return block


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


class Vanilla:
    """Slow start, congestion avoidance, timeouts; the others are built on it."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.cwnd = setup.initcwnd
        self.ssthresh = setup.ssthresh
        self.una = self.nxt = self.max = 0
        self.recover = -2  # the highest segment outstanding at the last timeout
        self.timed_out = -1  # snd_una at the last timeout
        self.dupacks = 0
        self.count = 0  # ACKs towards the next increase in congestion avoidance
        self.in_recovery = False
        self.timeouts = self.recoveries = 0
        self.outbox: list[int] = []

    # What arrives.

    def ack(self, ack: int, sacked: frozenset[int]) -> None:
        self.learn(ack, sacked)
        if ack > self.una:
            self.new_ack(ack)
        elif ack == self.una and self.max > self.una:
            self.duplicate()
        self.send()

    def timeout(self) -> None:
        self.timeouts += 1
        if self.una != self.timed_out:
            self.ssthresh = self.halved()
        self.timed_out = self.una
        self.cwnd, self.count, self.dupacks = 1, 0, 0
        self.in_recovery = False
        self.recover = self.max - 1
        self.nxt = self.una
        self.send()

    # What a flavor changes.

    def learn(self, ack: int, sacked: frozenset[int]) -> None:
        """SACK information."""

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        self.grow()

    def duplicate(self) -> None:
        """Vanilla takes no notice."""

    # Shared.

    def halved(self) -> int:
        return max(min(self.cwnd, self.max - self.una) // 2, 2)

    def advance(self, ack: int) -> None:
        self.una = ack
        self.nxt = max(self.nxt, ack)
        self.dupacks = 0

    def grow(self) -> None:
        if self.cwnd < self.ssthresh:
            self.cwnd += 1
            return
        self.count += 1
        if self.count >= self.cwnd:
            self.count = 0
            self.cwnd += 1

    def may_send(self) -> bool:
        return self.nxt - self.una < self.cwnd

    def send(self) -> None:
        while self.may_send() and self.nxt < self.setup.segments:
            self.transmit(self.nxt)
            self.nxt += 1

    def transmit(self, segment: int) -> None:
        self.outbox.append(segment)
        self.max = max(self.max, segment + 1)


class Reno(Vanilla):
    """Fast retransmit; fast recovery until the first new ACK."""

    def duplicate(self) -> None:
        if self.una - 1 <= self.recover:
            return
        self.dupacks += 1
        if self.in_recovery:
            self.cwnd += 1
        elif self.dupacks == DUPTHRESH:
            self.fast_retransmit()

    def fast_retransmit(self) -> None:
        self.recoveries += 1
        self.ssthresh = self.halved()
        self.cwnd = self.ssthresh + DUPTHRESH
        self.count = 0
        self.in_recovery = True
        self.transmit(self.una)

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        if self.in_recovery:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            self.grow()


class NewReno(Reno):
    """Fast recovery until all that was outstanding when it began is acknowledged."""

    def fast_retransmit(self) -> None:
        self.recover = self.max - 1
        super().fast_retransmit()

    def duplicate(self) -> None:
        if self.in_recovery:
            self.cwnd += 1
        else:
            super().duplicate()

    def new_ack(self, ack: int) -> None:
        acked = ack - self.una
        self.advance(ack)
        if not self.in_recovery:
            self.grow()
        elif ack > self.recover:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            self.cwnd = max(self.cwnd - acked + 1, self.ssthresh)
            self.transmit(self.una)


class Sack(Reno):
    """The scoreboard is used in fast recovery only; a timeout wipes it."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.scoreboard: set[int] = set()
        self.resent: set[int] = set()
        self.known = 0
        self.pipe = 0
        self.recovery_point = -1

    def learn(self, ack: int, sacked: frozenset[int]) -> None:
        before = len(self.scoreboard)
        if self.una - 1 > self.recover:  # not while a timeout is being repaired
            self.scoreboard |= sacked
        self.known = len(self.scoreboard) - before
        self.scoreboard = {s for s in self.scoreboard if s >= ack}
        self.resent = {s for s in self.resent if s >= ack}

    def timeout(self) -> None:
        self.scoreboard.clear()
        self.resent.clear()
        super().timeout()

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        if not self.in_recovery:
            self.grow()
        elif ack > self.recovery_point:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            self.pipe -= 2
        self.look_for_loss()

    def duplicate(self) -> None:
        if self.in_recovery:
            self.pipe -= self.known
        self.look_for_loss()

    def look_for_loss(self) -> None:
        if not self.in_recovery and len(self.scoreboard) >= DUPTHRESH:
            self.fast_retransmit()

    def fast_retransmit(self) -> None:
        self.recoveries += 1
        flight = min(self.cwnd, self.max - self.una)
        self.ssthresh = self.cwnd = self.halved()
        self.count = 0
        self.in_recovery = True
        self.recovery_point = self.max - 1
        self.pipe = flight - DUPTHRESH
        if self.una not in self.resent:
            self.resend(self.una)

    def resend(self, segment: int) -> None:
        self.resent.add(segment)
        self.pipe += 1
        self.transmit(segment)

    def lost(self, segment: int) -> bool:
        """Three SACKed segments above it (RFC 6675, IsLost)."""
        return sum(s > segment for s in self.scoreboard) >= DUPTHRESH

    def next_hole(self) -> int | None:
        highest = max(self.scoreboard, default=-1)
        for segment in range(self.una, highest):
            if segment in self.scoreboard or segment in self.resent:
                continue
            of_this_loss = self.setup.sack_rule == "pipe" and segment <= self.recovery_point
            if of_this_loss or self.lost(segment):
                return segment
        return None

    def outstanding(self) -> int:
        """PIPE: 98-0876R1's own count, or RFC 6675's SetPipe()."""
        if self.setup.sack_rule == "pipe":
            return self.pipe
        pipe = 0
        for segment in range(self.una, self.nxt):
            if segment in self.scoreboard:
                continue
            pipe += (not self.lost(segment) and segment not in self.first) + (
                segment in self.resent
            )
        return pipe

    @property
    def first(self) -> set[int]:
        """The segment whose loss began the recovery counts as lost whatever is above."""
        return {self.una} & self.resent

    def send(self) -> None:
        if not self.in_recovery:
            super().send()
            return
        while self.outstanding() < self.cwnd:
            hole = self.next_hole()
            if hole is not None:
                self.resend(hole)
            elif self.nxt < self.setup.segments:
                self.pipe += 1
                self.transmit(self.nxt)
                self.nxt += 1
            else:
                break


SENDERS: dict[str, type[Vanilla]] = {
    "vanilla": Vanilla,
    "reno": Reno,
    "newreno": NewReno,
    "sack": Sack,
}


class Simulation:
    """The link, the receiver and the timers around one sender."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.sender = SENDERS[setup.flavor](setup)
        self.receiver = Receiver()
        self.rto = Estimator(setup)
        self.sent: list[Sent] = []
        self._times: dict[int, list[float]] = {}
        self._timed = 0  # an ACK beyond it gives the next RTT sample
        self._events: list[tuple[float, int, int, frozenset[int]]] = []
        self._order = 0
        self._link_free_s = 0.0
        self._timer_s: float | None = None

    def run(self, limit_s: float = 300.0) -> list[Sent]:
        """Until all is acknowledged.

        Raises:
            RuntimeError: not within limit_s.
        """
        self.sender.send()
        self._flush(0.0, restart=True)
        while self.sender.una < self.setup.segments:
            now = self._step()
            if now > limit_s:
                raise RuntimeError(f"not finished after {limit_s} s")
        return self.sent

    def _step(self) -> float:
        arrival = self._events[0][0] if self._events else None
        if arrival is None or (self._timer_s is not None and self._timer_s < arrival):
            assert self._timer_s is not None
            now = self._timer_s
            self.sender.timeout()
            self.rto.back_off()
            self._flush(now, restart=True)
            return now
        now, _, ack, sacked = heapq.heappop(self._events)
        self._on_ack(now, ack, sacked)
        return now

    def _on_ack(self, now: float, ack: int, sacked: frozenset[int]) -> None:
        una = self.sender.una
        if ack > una:
            self._measure(now, una, ack)
        self.sender.ack(ack, sacked)
        restart = self.sender.una > una or self.sender.una in self.sender.outbox
        self._flush(now, restart=restart)

    def _measure(self, now: float, una: int, ack: int) -> None:
        """Karn: no sample from an ACK that covers a segment sent twice."""
        if any(len(self._times[s]) > 1 for s in range(una, ack)):
            return
        self.rto.clear_backoff()
        if ack > self._timed:
            self.rto.sample(now - self._times[ack - 1][0])
            self._timed = self.sender.max

    def _flush(self, now: float, *, restart: bool) -> None:
        for segment in self.sender.outbox:
            self._transmit(now, segment)
        self.sender.outbox.clear()
        if self.sender.max == self.sender.una:
            self._timer_s = None
        elif restart or self._timer_s is None:
            self._timer_s = now + self.rto.rto_s()

    def _transmit(self, now: float, segment: int) -> None:
        times = self._times.setdefault(segment, [])
        sending = len(times)
        times.append(now)
        self.sent.append(Sent(time_s=now, segment=segment, sending=sending))
        if sending in self.setup.drops.get(segment, ()):
            return
        bits = 8 * (self.setup.payload_bytes + HEADERS_BYTES)
        self._link_free_s = max(self._link_free_s, now) + bits / self.setup.rate_bit_per_s
        ack, sacked = self._receive(segment)
        self._order += 1
        arrival = self._link_free_s + 2 * self.setup.delay_s
        heapq.heappush(self._events, (arrival, self._order, ack, sacked))

    def _receive(self, segment: int) -> tuple[int, frozenset[int]]:
        """The link keeps the order, so what is sent first is also received first."""
        ack, blocks = self.receiver.receive(segment)
        return ack, blocks if self.setup.flavor == "sack" else frozenset()


def simulate(setup: Setup) -> Simulation:
    """The finished simulation of a connection."""
    simulation = Simulation(setup)
    simulation.run()
    return simulation
