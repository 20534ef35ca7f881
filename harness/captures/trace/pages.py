# SPDX-License-Identifier: GPL-2.0-only
"""Reads the pages of the kernel's ring buffer: events with their times, exact to the nanosecond.

The kernel's include/linux/ring_buffer.h defines the format. A page begins with the time of its
first event [ns] and the number of its bytes. An event begins with 32 bits: 5 bits of type or
length, and 27 bits of the time since the previous event.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

PAGE_BYTES = 4096
HEAD = struct.Struct("<QQ")
WORD = struct.Struct("<I")
LENGTH_MASK = (1 << 20) - 1  # the higher bits are flags of lost events
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
DELTA_BITS = 27


def events(pages: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield time [ns] and content of each event, page by page, processor by processor."""
    for at in range(0, len(pages), PAGE_BYTES):
        yield from of_page(pages[at : at + PAGE_BYTES])


def of_page(page: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the events of one page."""
    time_ns, committed = HEAD.unpack_from(page)
    at, end = HEAD.size, HEAD.size + (committed & LENGTH_MASK)
    while at < end:
        [word] = WORD.unpack_from(page, at)
        kind, delta = word & 31, word >> 5
        at += WORD.size
        if kind == PADDING and not delta:
            return
        [first] = WORD.unpack_from(page, at)
        if kind == PADDING:
            at += first
        elif kind == TIME_EXTEND:
            time_ns += (first << DELTA_BITS) + delta
            at += WORD.size
        elif kind == TIME_STAMP:
            time_ns = (time_ns >> 59 << 59) | (first << DELTA_BITS) + delta
            at += WORD.size
        else:
            time_ns += delta
            length = WORD.size * kind if kind else first
            yield time_ns, page[at if kind else at + WORD.size : at + length]
            at += length
