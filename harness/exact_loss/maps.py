# SPDX-License-Identifier: GPL-2.0-only
"""The record of loss.bpf.c, mapped into this process: set up, arm, read.

Runs inside the lab. The layouts are those of loss.h.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PINS = Path("/sys/fs/bpf/tc/globals")
MAX_SEGMENTS = 16384
MAX_EVENTS = 65536
MAX_SENDINGS = 32

Sendings = Mapping[int, Sequence[int]]
NONE: Sendings = {}


class State(ctypes.Structure):
    """struct loss_state."""

    _fields_ = [(n, ctypes.c_uint32) for n in ("payload", "port", "isn", "events")]


class Segment(ctypes.Structure):
    """struct loss_segment."""

    _fields_ = [(n, ctypes.c_uint32) for n in ("drop", "seen", "mark", "unused")]


class Event(ctypes.Structure):
    """struct loss_event."""

    _fields_ = [
        ("time_ns", ctypes.c_uint64),
        ("byte", ctypes.c_uint32),
        ("length", ctypes.c_uint16),
        ("kind", ctypes.c_uint8),
        ("dropped", ctypes.c_uint8),
        ("sending", ctypes.c_uint32),
        ("sacked", ctypes.c_uint32),
    ]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One segment or ACK as it passed the router.

    Attributes:
        byte: data: offset of its first byte; ACK: bytes acknowledged.
        length: data: its bytes; ACK: 0.
        sending: data: which sending of this segment, from 0.
        sacked: ACK: bytes of its SACK blocks.
    """

    time_ns: int
    data: bool
    byte: int
    length: int
    dropped: bool
    sending: int
    sacked: int


class LossMaps:
    """The three pinned arrays of the loaded program."""

    def __init__(self) -> None:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
        self._state = _mapped(library, "loss_state", State, 1)
        self._segments = _mapped(library, "loss_segments", Segment, MAX_SEGMENTS)
        self._events = _mapped(library, "loss_events", Event, MAX_EVENTS)

    def arm(self, *, port: int, payload: int, drops: Sendings, marks: Sendings = NONE) -> None:
        """Forget the last connection; drop segment s at each sending in drops[s], and so on."""
        ctypes.memset(self._segments, 0, ctypes.sizeof(self._segments))
        for name, chosen in (("drop", drops), ("mark", marks)):
            for segment, sendings in chosen.items():
                known = 0 <= segment < MAX_SEGMENTS
                if not known or not all(0 <= n < MAX_SENDINGS for n in sendings):
                    raise ValueError(f"segment {segment} sendings {sendings}: out of range")
                setattr(self._segments[segment], name, sum(1 << n for n in sendings))
        self._state[0] = State(payload=payload, port=port, isn=0, events=0)

    def read(self) -> list[Recorded]:
        """What has passed since arm(), in order; an overflow raises."""
        count = self._state[0].events
        if count > MAX_EVENTS:
            raise OverflowError(f"{count} events, and room for {MAX_EVENTS}")
        return [
            Recorded(
                time_ns=e.time_ns,
                data=bool(e.kind),
                byte=e.byte,
                length=e.length,
                dropped=bool(e.dropped),
                sending=e.sending,
                sacked=e.sacked,
            )
            for e in self._events[:count]
        ]


def _mapped(library: ctypes.CDLL, name: str, kind: type[ctypes.Structure], count: int):  # type: ignore[no-untyped-def]
    fd = library.bpf_obj_get(str(PINS / name).encode())
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"BPF map {PINS / name}")
    try:
        # An array of 8-byte rounded values; all three layouts already are.
        memory = mmap.mmap(fd, ctypes.sizeof(kind) * count)
    finally:
        os.close(fd)
    return (kind * count).from_buffer(memory)
