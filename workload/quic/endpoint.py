# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: what aioquic's client and server share. Both are programs of their own.

aioquic does no input and no output: it takes datagrams and the time, and gives datagrams and the
moment of its next timer. The loop here waits for sockets and for this moment. A timerfd(2) is exact
to the nanosecond; the timeout of poll(2) is in whole milliseconds. All times that aioquic sees are
seconds from the start of the program's clock (programs/quic_draws.c), so they are the same numbers
in each run.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from aioquic.quic.logger import QLOG_VERSION, QuicLogger, QuicLoggerTrace
from aioquic.quic.stream import QuicStream

from workload.quic.lines import header, line

DRAWS = "/opt/cellbed/quic_draws"
FIRST_NS = 1000 * 10**9  # what the clock shows at its start (programs/quic_draws.c)
DATAGRAM_BYTES = 65536
MOST_RANGES = 256
"""Of packets that an acknowledgement has. aioquic has no limit, and fails if they do not fit into a
packet. A range takes at most 4 bytes, and a packet has at least 1200 (RFC 9000, 13.2.3)."""


def draw_alike() -> None:
    """Give OpenSSL, which makes the keys of TLS, the trial's random numbers.

    aioquic sends its streams in the order of a set. Without a hash of its own, a stream's place in
    a set follows from its address in memory, and so from each file that the program has read.
    """
    QuicStream.__hash__ = lambda stream: hash(stream.stream_id)
    method = ctypes.c_void_p.in_dll(ctypes.CDLL(DRAWS), "cellbed_rand_method")
    if ctypes.CDLL("libcrypto.so.3").RAND_set_rand_method(ctypes.byref(method)) != 1:
        raise RuntimeError("OpenSSL did not take the trial's random numbers")


def clock_ns() -> int:
    """Return the time since the start of the program's clock [ns]."""
    return time.monotonic_ns() - FIRST_NS


class Trace(QuicLoggerTrace):
    """Writes each event when it happens, so that a long trial needs no memory for them."""

    def __init__(self, stream: TextIO, *, is_client: bool, odcid: bytes) -> None:
        super().__init__(is_client=is_client, odcid=odcid)
        self.stream = stream
        end = "client" if is_client else "server"
        stream.write(line(header("aioquic", end, odcid.hex(), QLOG_VERSION)))

    def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
        if "cwnd" in data:  # as qlog calls it
            data = {"congestion_window": data.pop("cwnd"), **data}
        found = {"time": clock_ns() / 1e6, "name": f"{category}:{event}", "data": data}
        self.stream.write(line(found))


class Logger(QuicLogger):
    """aioquic's logger with one file for each connection."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.stream: TextIO | None = None

    def start_trace(self, is_client: bool, odcid: bytes) -> Trace:
        self.stream = self.path.open("w", encoding="ascii", buffering=1 << 20)
        return Trace(self.stream, is_client=is_client, odcid=odcid)

    def end_trace(self, trace: QuicLoggerTrace) -> None:
        """Leave the file open: late packets may be logged. A program closes it at its end."""

    def close(self) -> None:
        """Write what is not in the file yet; Python may not do so when a program ends."""
        if self.stream is not None:
            self.stream.close()


class End:
    """One connection and its socket, which is connected or learns its peer with the first datagram.

    Attributes:
        connection: aioquic's QuicConnection; None at a server until a client has sent something.
    """

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)
        self.connection: Any = None
        self.peer: Any = None

    def datagrams(self) -> Iterable[tuple[bytes, Any]]:
        """Read what has come."""
        while True:
            try:
                yield self.socket.recvfrom(DATAGRAM_BYTES)
            except BlockingIOError:
                return

    def take(self) -> None:
        """Hand the connection what has come, or a timer that is due."""
        for data, peer in self.datagrams():
            if self.connection is None:
                self.begin(data, peer)
            self.connection.receive_datagram(data, self.peer, now_s())
        if self.connection is not None:
            due = self.connection.get_timer()
            if due is not None and due <= now_s():
                self.connection.handle_timer(now_s())

    def begin(self, data: bytes, peer: Any) -> None:
        """Make the connection of a first datagram; a client has made its own."""
        raise NotImplementedError

    def send(self) -> None:
        """Send what the connection gives."""
        for space in self.connection._spaces.values():
            while len(space.ack_queue) > MOST_RANGES:
                space.ack_queue.shift()
        for data, _ in self.connection.datagrams_to_send(now_s()):
            self.socket.sendto(data, self.peer)

    def timer_ns(self) -> int | None:
        """Return the moment of the connection's next timer [ns]; None: there is none."""
        due = None if self.connection is None else self.connection.get_timer()
        # Rounded up: aioquic does nothing before the moment in its own seconds.
        return None if due is None else int(due * 1e9) + 1


def now_s() -> float:
    """Return clock_ns() in seconds, as aioquic wants it."""
    return clock_ns() / 1e9


class Loop:
    """Waits for sockets and moments."""

    def __init__(self) -> None:
        self.timer = os.timerfd_create(time.CLOCK_MONOTONIC)  # type: ignore[attr-defined]
        self.poll = select.poll()
        self.poll.register(self.timer, select.POLLIN)
        self.known: dict[int, Callable[[], None]] = {}

    def add(self, descriptor: int, act: Callable[[], None]) -> None:
        """Call `act` when a descriptor has something to read."""
        self.known[descriptor] = act
        self.poll.register(descriptor, select.POLLIN)

    def drop(self, descriptor: int) -> None:
        """Look at a descriptor no more: what has ended is always ready to be read."""
        del self.known[descriptor]
        self.poll.unregister(descriptor)

    def wait(self, moments_ns: Iterable[int | None]) -> None:
        """Wait for the first of these moments, or for something to read, and act on it."""
        due = min((moment for moment in moments_ns if moment is not None), default=None)
        left = 0 if due is None else max(1, due - clock_ns())
        os.timerfd_settime_ns(self.timer, initial=left)  # type: ignore[attr-defined]
        for descriptor, _ in sorted(self.poll.poll()):
            if descriptor != self.timer:
                self.known[descriptor]()


def spec_of(path: str) -> Mapping[str, Any]:
    """Return what the workload's source tells the program (source.py)."""
    found: Mapping[str, Any] = json.loads(Path(path).read_text())
    return found
