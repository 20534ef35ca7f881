# SPDX-License-Identifier: GPL-2.0-only
"""What acknowledges each segment at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from studies.ubrplus_1998.model.senders import Block

SACK_BLOCKS = 4


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
        if start <= self.next and not self.blocks:
            self.next = max(self.next, end)
            return self.next, ()
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
