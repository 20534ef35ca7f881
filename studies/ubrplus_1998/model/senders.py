# SPDX-License-Identifier: GPL-2.0-only
"""A segment-level model of the four senders, written from the RFCs and 98-0876R1.

It knows nothing of the kernel: its variables are those of the texts (snd_una, snd_nxt,
cwnd with the inflation of fast recovery, recover, PIPE).

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

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

DUPTHRESH = 3

Block = tuple[int, int]
"""Bytes of a SACK block, the second one past its end."""


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
class Departure:
    """What a sender gives to the network: ect, it asks for marks; cwr, the window was reduced."""

    byte: int
    ect: bool
    cwr: bool


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
        self.starts: list[int] = []  # the first bytes, in order
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
        byte, gone = self.una, 0
        while byte < ack:
            end = byte + self.lengths.pop(byte)
            gone += 1
            if end > ack:
                self.lengths[ack] = end - ack
                gone -= 1
                self.starts[gone] = ack
            byte = end
        del self.starts[:gone]

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
        if again:
            self.replace(byte, end)
        else:
            self.starts.append(byte)
        self.lengths[byte] = length
        if not again and length < self.mss:
            self.short_end = end
        self.max = max(self.max, byte + length)

    def replace(self, byte: int, end: int) -> None:
        """One segment in place of those that begin within it; of the last a part may be left."""
        first, last = bisect_left(self.starts, byte), bisect_left(self.starts, end)
        rest = 0
        for inside in self.starts[first:last]:
            rest = max(rest, inside + self.lengths.pop(inside) - end)
        self.starts[first:last] = [byte]
        if rest > 0:
            self.lengths[end] = rest
            self.starts.insert(first + 1, end)


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
