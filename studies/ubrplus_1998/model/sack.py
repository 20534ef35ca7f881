# SPDX-License-Identifier: GPL-2.0-only
"""SACK: 98-0876R1, section 3.2, or RFC 6675; what senders.py says of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from studies.ubrplus_1998.model.senders import DUPTHRESH, Block, Reno, Setup


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
        self.known = 0
        if sacked and (self.in_recovery or not self.repairing()):
            fresh = {byte for block in sacked for byte in self.within(block)} - self.scoreboard
            self.scoreboard |= fresh
            self.known = sum(self.counted(self.lengths[byte]) for byte in fresh)
        if ack > self.una:
            self.scoreboard = {byte for byte in self.scoreboard if byte >= ack}
            self.resent = {byte for byte in self.resent if byte >= ack}

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

    def within(self, block: Block) -> Sequence[int]:
        """First bytes of the segments that lie in a block whole."""
        start, end = block
        found = self.starts[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
        if found and found[-1] + self.lengths[found[-1]] > end:
            found.pop()
        return found

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
        return next((byte for byte in self.starts if self.is_hole(byte)), None)

    def in_flight(self) -> int:
        """PIPE: 98-0876R1's own count, or RFC 6675's SetPipe().

        The segment whose loss began the recovery counts as lost whatever is above it.
        """
        if self.setup.sack_rule == "pipe":
            return self.pipe
        pipe = 0
        for byte in self.starts:
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
