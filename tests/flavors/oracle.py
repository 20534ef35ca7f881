# SPDX-License-Identifier: GPL-2.0-only
"""A segment-level model of the four senders, written from the RFCs and 98-0876R1.

It knows nothing of the kernel: its variables are those of the texts (snd_una, snd_nxt,
cwnd with the inflation of fast recovery, recover, PIPE). One sender, one
receiver that acknowledges every segment at once, a link with a rate and a delay, an
unlimited queue, exact losses. All data is there from the start.

    Vanilla  slow start and congestion avoidance (Jacobson 1988), timeouts
    Reno     RFC 2581, 3.2
    NewReno  RFC 6582, 3.2, steps 1 to 6; step 3's full ACK: cwnd = ssthresh
    SACK     98-0876R1, 3.2 (PIPE), or RFC 6675 ("three_above")
    ECN      RFC 3168, 6.1.2 and 6.1.3

What the texts leave open is chosen here, and is the same in the module:

* ssthresh on a loss: max(min(cwnd, flight) / 2, 2), rounded down. RFC 2581 has flight / 2.
* A timeout halves ssthresh unless the same segment timed out before (RFC 5681, 3.1).
* A timeout sends everything from snd_una again, as the window allows, and skips what an
  ACK shows to have arrived; duplicate ACKs start no fast retransmit until an ACK covers
  more than was outstanding at the timeout (RFC 2582's bug fix, RFC 6582 step 2).
* A segment that is sent again keeps its boundaries, but small ones that follow each other
  are sent as one; what does not fit the room left waits (PIPE: any room will do).
* The ACK that ends a recovery does not grow the window.
* An ACK with ECE reduces the window once for a window of data, whatever that was reduced for: not
  before an ACK covers more than was outstanding. It halves min(cwnd, flight before this ACK). A
  fast retransmit or a timeout of a window that was reduced for a mark does not lower ssthresh
  again, and PIPE begins with all that is outstanding.
* An ACK with ECE does not grow the window, but while a timeout is repaired: what tells the receiver
  to be silent (CWR) goes with new data only, and the mark has been answered by a window of one.
* SACK enters recovery on the third segment known to have arrived above snd_una, which is
  the third duplicate ACK when none was SACKed before it (RFC 6675, 5, step 2); with
  pipe_segments on the third duplicate ACK, whatever was SACKed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

DUPTHRESH = 3
SACK_BLOCKS = 4
HEADERS_BYTES = 54  # IP, TCP and Ethernet, without options


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A connection to be modelled; times in seconds.

    Attributes:
        total_bytes: all of them are there to be sent from the start.
        initcwnd, ssthresh: in full segments.
        drops: number of a segment -> its sendings (from 0) that are lost; a segment's
            number is its first byte / mss, rounded down.
        marks: the same of those that get a congestion mark (CE), if they are new data.
        pipe_segments: SACK by the text's table of segments (98-0876R1, 3.2): the third duplicate
            ACK begins a recovery; PIPE begins with cwnd and goes by full segments, one for a
            duplicate ACK; a segment not SACKed below one that is is sent again as it was, new
            data in whole segments.
        byte_window: the window is counted in bytes and filled with segments cut short.
        partial_reset: NewReno: a partial ACK sets cwnd to ssthresh (98-0876R1, 3.1).
        half_window: ssthresh is half of min(cwnd, peer's window), at every timeout (RFC 2001;
            4.4BSD).
        recut: what is sent again begins at the first byte missing and is as long as a segment
            may be and the window allows, new data behind it included; with SACK to the end
            of the hole (4.4BSD). Needs byte_window.
        multiple: duplicate ACKs start a fast retransmit also while a timeout is repaired and
            for the last byte of a recovery (RFC 2001), not as RFC 2582 has it.
        flywheel: NewReno: every second duplicate ACK sends a new segment (Hoe).
        peer_window: bytes that the receiver advertises; its last ones are filled with less than a
            segment.
        nagle: the last segment of all, if short, waits for the ACK of the last short one that left
            as new data (Minshall's rule; no TCP_NODELAY).
    """

    flavor: str
    total_bytes: int
    initcwnd: int
    ssthresh: int
    drops: Mapping[int, frozenset[int]]
    mss: int = 1000
    rate_bit_per_s: float = 10e6
    delay_s: float = 0.05
    tick_s: float = 0.1
    min_ticks: int = 2
    first_rto_s: float = 3.0
    sack_rule: str = "pipe"
    pipe_segments: bool = False
    byte_window: bool = False
    partial_reset: bool = False
    half_window: bool = False
    recut: bool = False
    multiple: bool = False
    flywheel: bool = False
    peer_window: int = 1 << 30
    nagle: bool = False
    marks: Mapping[int, frozenset[int]] = field(default_factory=dict)

    @property
    def table(self) -> bool:
        """SACK by the text's table."""
        return self.pipe_segments and self.sack_rule == "pipe"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One sending: bytes byte to byte + length; which sending of its segment, from 0."""

    time_s: float
    byte: int
    length: int
    sending: int


Block = tuple[int, int]  # bytes, the second one past the end


@dataclass(frozen=True, kw_only=True)
class Departure:
    """What a sender gives to the network: ect, it asks for marks; cwr, the window was reduced."""

    byte: int
    ect: bool
    cwr: bool


@dataclass(kw_only=True)
class Receiver:
    """Acknowledges each segment; reports blocks as RFC 2018, section 4: latest first."""

    next: int = 0
    blocks: list[Block] = field(default_factory=list)
    echo: bool = False  # ECE: from a mark on until the sender says that it has reduced its window

    def receive(
        self, byte: int, length: int, *, marked: bool = False, cwr: bool = False
    ) -> tuple[int, tuple[Block, ...]]:
        """The ACK, and at most four SACK blocks."""
        self.echo = marked or (self.echo and not cwr)
        start, end = byte, byte + length
        if start > self.next:
            touching = [b for b in self.blocks if b[0] <= end and start <= b[1]]
            for block in touching:
                start, end = min(start, block[0]), max(end, block[1])
            self.blocks = [(start, end)] + [b for b in self.blocks if b not in touching]
        else:
            self.next = max(self.next, end)
            for block in sorted(self.blocks):
                if block[0] <= self.next:
                    self.next = max(self.next, block[1])
            self.blocks = [b for b in self.blocks if b[0] > self.next]
        return self.next, tuple(self.blocks[:SACK_BLOCKS])


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
    """Slow start, congestion avoidance, timeouts; the others are built on it.

    All windows and sequence numbers are in bytes; with byte_window off everything is a
    multiple of the MSS but the last segment.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.mss = setup.mss
        self.cwnd = setup.initcwnd * self.mss
        self.ssthresh = setup.ssthresh * self.mss
        self.total_bytes = setup.total_bytes  # there to be sent
        self.una = self.nxt = self.max = 0
        self.lengths: dict[int, int] = {}  # of each segment sent, by its first byte
        self.short_end = 0  # where the last short segment of new data ended
        self.recover = -1  # snd_max at the last timeout
        self.repair_end = -1  # the same, also in NewReno
        self.timed_out = -1  # snd_una at the last timeout
        self.dupacks = 0
        self.count = 0  # ACKs towards the next increase in congestion avoidance
        self.in_recovery = False
        self.timeouts = self.recoveries = 0
        self.reduced = ""  # for what the window was, until what was sent then is acknowledged
        self.reduced_end = 0  # snd_max then
        self.cwr_due = False
        self.echo = False  # this ACK has ECE
        self.outbox: list[Departure] = []

    # What arrives.

    def ack(self, ack: int, sacked: tuple[Block, ...], echo: bool = False) -> None:
        self.learn(ack, sacked)
        self.echo = echo
        acked = ack - self.una
        if ack > self.reduced_end:
            self.reduced = ""
        if ack > self.una:
            self.new_ack(ack)
        elif ack == self.una and self.max > self.una:
            self.duplicate()
        if echo and not self.reduced:
            self.mark(acked)
        self.send()

    def mark(self, acked: int) -> None:
        """RFC 3168, 6.1.2; acked: by the ACK that tells of it."""
        self.ssthresh = self.halved(acked)
        self.cwnd, self.count = min(self.cwnd, self.ssthresh), 0
        self.reduce("mark")

    def timeout(self) -> None:
        self.timeouts += 1
        if self.setup.half_window or self.una != self.timed_out:
            self.lower()
        self.reduce("timeout")
        self.timed_out = self.una
        self.cwnd, self.count, self.dupacks = self.mss, 0, 0
        self.in_recovery = False
        self.recover = self.repair_end = self.max
        self.nxt = self.una
        self.send()

    # What a flavor changes.

    def learn(self, ack: int, sacked: tuple[Block, ...]) -> None:
        """SACK information."""

    def may_be_timed(self) -> bool:
        """Whether an ACK that comes now may be an RTT sample."""
        return True

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        self.grow()

    def duplicate(self) -> None:
        """Vanilla takes no notice."""

    # Shared.

    def reduce(self, reason: str) -> None:
        self.reduced, self.reduced_end, self.cwr_due = reason, self.max, True

    def lower(self) -> None:
        """ssthresh, for a loss: but not again in a window that was marked."""
        if not (self.reduced == "mark" and self.una < self.reduced_end):
            self.ssthresh = self.halved()

    def halved(self, acked: int = 0) -> int:
        limit = self.setup.peer_window if self.setup.half_window else self.max - self.una + acked
        half = min(self.cwnd, limit) // 2
        return max(half // self.mss, 2) * self.mss

    def advance(self, ack: int) -> None:
        self.forget(ack)
        self.una = ack
        self.nxt = max(self.nxt, ack)
        self.dupacks = 0

    def forget(self, ack: int) -> None:
        """The segments below an ACK; of one sent again longer than it was a part is left."""
        byte = self.una
        while byte < ack:
            end = byte + self.lengths.pop(byte)
            if end > ack:
                self.lengths[ack] = end - ack
            byte = end

    def grow(self) -> None:
        if self.echo and self.reduced != "timeout":
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += self.mss
        elif self.setup.byte_window:
            self.cwnd += max(self.mss * self.mss // self.cwnd, 1)
        else:
            self.count += 1
            if self.count * self.mss >= self.cwnd:
                self.count = 0
                self.cwnd += self.mss

    def room(self) -> int:
        return self.cwnd - (self.nxt - self.una)

    def send(self) -> None:
        """What snd_nxt shows: after a timeout the old segments, then new ones."""
        while True:
            old = self.nxt in self.lengths
            length = self.new_length(self.room())
            if old:
                length = self.again_length(self.nxt, self.room())
            if not length or length > self.room() or not self.may_leave(length):
                break
            self.transmit(self.nxt, length)
            self.nxt += length

    def may_leave(self, length: int) -> bool:
        """Whether Nagle's algorithm lets a segment go from snd_nxt on."""
        new, last = self.nxt == self.max, self.nxt + length == self.total_bytes
        short = length < self.mss and self.short_end > self.una
        return not (self.setup.nagle and new and last and short)

    def again_length(self, byte: int, room: int | None = None) -> int:
        """Length of what is sent again from byte on; room None: whatever the window."""
        if not self.setup.recut:
            return self.merged(byte)
        length = min(self.mss, self.total_bytes - byte)
        return length if room is None else max(min(length, room), 0)

    def merged(self, byte: int) -> int:
        """A segment that is sent again is filled with whole segments that follow it."""
        length = self.lengths[byte]
        while (after := byte + length) < self.max:
            if length + self.lengths[after] > self.mss or self.known_to_have_arrived(after):
                break
            length += self.lengths[after]
        return length

    def known_to_have_arrived(self, byte: int) -> bool:
        return False

    def new_length(self, room: int) -> int:
        """Length of the next new segment; 0 when nothing may be sent."""
        allowed = self.una + self.setup.peer_window - self.nxt
        length = min(self.mss, self.total_bytes - self.nxt, allowed)
        if self.setup.byte_window:
            return max(min(length, room), 0)
        return length if length <= room else 0

    def transmit(self, byte: int, length: int) -> None:
        end = byte + length
        again = byte < self.max
        self.outbox.append(Departure(byte=byte, ect=not again, cwr=self.cwr_due and not again))
        self.cwr_due = self.cwr_due and again
        for inside in [b for b in self.lengths if byte <= b < end] if again else ():
            if (rest := inside + self.lengths.pop(inside) - end) > 0:
                self.lengths[end] = rest
        self.lengths[byte] = length
        if not again and length < self.mss:
            self.short_end = end
        self.max = max(self.max, byte + length)


class Reno(Vanilla):
    """Fast retransmit; fast recovery until the first new ACK."""

    def duplicate(self) -> None:
        if self.una <= self.recover and not self.setup.multiple:
            return
        self.dupacks += 1
        if self.in_recovery:
            self.cwnd += self.mss
        elif self.dupacks == DUPTHRESH:
            self.fast_retransmit()

    def fast_retransmit(self) -> None:
        self.recoveries += 1
        self.lower()
        self.reduce("loss")
        self.cwnd = self.ssthresh + DUPTHRESH * self.mss
        self.count = 0
        self.in_recovery = True
        self.transmit_first()

    def transmit_first(self) -> None:
        length = self.again_length(self.una)
        self.transmit(self.una, length)
        self.nxt = max(self.nxt, self.una + length)

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        if self.in_recovery:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            self.grow()


class NewReno(Reno):
    """Fast recovery until all that was outstanding when it began is acknowledged."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.turns = 0  # duplicate ACKs in this recovery
        self.push = False  # the flywheel has turned

    def fast_retransmit(self) -> None:
        self.recover = self.max
        self.turns = 0
        super().fast_retransmit()

    def duplicate(self) -> None:
        if not self.in_recovery:
            super().duplicate()
            return
        self.cwnd += self.mss
        self.turns += 1
        self.push = self.setup.flywheel and self.turns % 2 == 0

    def room(self) -> int:
        room = super().room()
        return max(room, self.mss) if self.push else room

    def transmit(self, byte: int, length: int) -> None:
        self.push = False
        super().transmit(byte, length)

    def send(self) -> None:
        super().send()
        self.push = False

    def new_ack(self, ack: int) -> None:
        acked = ack - self.una
        self.advance(ack)
        if not self.in_recovery:
            self.grow()
        elif ack >= self.recover:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            back = self.mss if acked >= self.mss else 0
            deflated = max(self.cwnd - acked + back, self.ssthresh)
            self.cwnd = self.ssthresh if self.setup.partial_reset else deflated
            self.transmit_first()


class Sack(Reno):
    """The scoreboard is used in fast recovery only; a timeout wipes it."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.scoreboard: set[int] = set()
        self.resent: set[int] = set()
        self.known = 0
        self.pipe = 0
        self.recovery_point = -1

    def learn(self, ack: int, sacked: tuple[Block, ...]) -> None:
        fresh: set[int] = set()
        if self.in_recovery or not self.repairing():
            fresh = {b for b in self.outstanding() if self.within(b, sacked)} - self.scoreboard
        self.scoreboard |= fresh
        self.known = sum(self.counted(self.lengths[b]) for b in fresh)
        self.scoreboard = {b for b in self.scoreboard if b >= ack}
        self.resent = {b for b in self.resent if b >= ack}

    def repairing(self) -> bool:
        if self.setup.multiple:
            return self.una < self.repair_end
        return self.una <= self.repair_end

    def transmit(self, byte: int, length: int) -> None:
        if byte < self.repair_end:
            self.resent.add(byte)
        super().transmit(byte, length)

    def may_be_timed(self) -> bool:
        return not (self.in_recovery and self.setup.multiple and self.repairing())

    def counted(self, length: int) -> int:
        """What a segment of this length is in PIPE."""
        return self.mss if self.setup.pipe_segments else length

    def within(self, byte: int, blocks: tuple[Block, ...]) -> bool:
        return any(start <= byte and byte + self.lengths[byte] <= end for start, end in blocks)

    def known_to_have_arrived(self, byte: int) -> bool:
        return byte in self.scoreboard

    def timeout(self) -> None:
        self.scoreboard.clear()
        self.resent.clear()
        super().timeout()

    def new_ack(self, ack: int) -> None:
        self.advance(ack)
        if not self.in_recovery:
            self.grow()
        elif ack >= self.recovery_point:
            self.in_recovery = False
            self.cwnd = self.ssthresh
        else:
            self.pipe -= 2 * self.mss
        self.look_for_loss()

    def duplicate(self) -> None:
        if self.in_recovery:
            steps = self.setup.pipe_segments or (self.setup.multiple and self.repairing())
            self.pipe -= self.mss if steps else self.known
        elif self.setup.table or (self.setup.multiple and self.repairing()):
            if self.repairing() and not self.setup.multiple:
                return
            self.dupacks += 1
            if self.dupacks == DUPTHRESH:
                self.fast_retransmit()
            return
        self.look_for_loss()

    def look_for_loss(self) -> None:
        if not self.setup.table and not self.in_recovery and len(self.scoreboard) >= DUPTHRESH:
            self.fast_retransmit()

    def fast_retransmit(self) -> None:
        self.recoveries += 1
        window, flight = self.cwnd, self.max - self.una
        if self.reduced != "mark":
            flight = min(window, flight)
        self.lower()
        self.reduce("loss")
        self.cwnd, self.count = self.ssthresh, 0
        self.in_recovery = True
        self.recovery_point = self.nxt = self.max
        self.pipe = (window if self.setup.pipe_segments else flight) - DUPTHRESH * self.mss
        if self.una not in self.resent or self.repairing():
            self.resend(self.una)

    def hole_length(self, byte: int, room: int | None) -> int:
        if not self.setup.recut:
            return self.merged(byte)
        length = self.lengths[byte]
        if self.setup.table:
            return length
        while length < self.mss and self.is_hole(byte + length):
            length += self.lengths[byte + length]
        length = min(length, self.mss)
        return length if room is None or self.setup.sack_rule == "pipe" else min(length, room)

    def resend(self, byte: int, room: int | None = None) -> None:
        length = self.hole_length(byte, room)
        self.resent.add(byte)
        self.pipe += self.counted(length)
        self.transmit(byte, length)

    def lost(self, byte: int) -> bool:
        """Three SACKed segments above it (RFC 6675, IsLost)."""
        return sum(b > byte for b in self.scoreboard) >= DUPTHRESH

    def outstanding(self) -> list[int]:
        """First bytes of the segments not acknowledged, in order."""
        return sorted(b for b in self.lengths if self.una <= b < self.max)

    def is_hole(self, byte: int) -> bool:
        """Whether the segment that begins there may be sent again."""
        if byte not in self.lengths or byte in self.scoreboard or byte in self.resent:
            return False
        if byte < self.repair_end:
            return True
        below = byte < max(self.scoreboard, default=-1)
        of_this_loss = self.setup.sack_rule == "pipe" and byte < self.recovery_point
        of_this_loss = of_this_loss or self.setup.table
        return below and (of_this_loss or self.lost(byte))

    def next_hole(self) -> int | None:
        return next((byte for byte in self.outstanding() if self.is_hole(byte)), None)

    def in_flight(self) -> int:
        """PIPE: 98-0876R1's own count, or RFC 6675's SetPipe().

        The segment whose loss began the recovery counts as lost whatever is above it.
        """
        if self.setup.sack_rule == "pipe":
            return self.pipe
        pipe = 0
        for byte in self.outstanding():
            if byte in self.scoreboard:
                continue
            given_up = self.lost(byte) or (byte == self.una and byte in self.resent)
            given_up = given_up or byte < self.repair_end
            pipe += self.lengths[byte] * ((not given_up) + (byte in self.resent))
        return pipe

    def send(self) -> None:
        if not self.in_recovery:
            super().send()
            return
        while (room := self.cwnd - self.in_flight()) > 0:
            hole = self.next_hole()
            if hole is not None:
                whole = self.setup.sack_rule != "pipe" and not self.setup.recut
                if whole and room < self.merged(hole):
                    break
                self.resend(hole, room)
                continue
            length = self.new_length(max(room, self.mss) if self.setup.table else room)
            if not length or not self.may_leave(length):
                break
            self.pipe += self.counted(length)
            self.transmit(self.nxt, length)
            self.nxt += length


SENDERS: dict[str, type[Vanilla]] = {
    "vanilla": Vanilla,
    "reno": Reno,
    "newreno": NewReno,
    "sack": Sack,
}


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
            cuts = sorted({first, last, *(cut for cut in (start, end) if first < cut < last)})
            for a, b in pairwise(cuts):
                yield a, b, sent, again or start <= a < end


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
