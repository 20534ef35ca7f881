# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the players of all pairs. python3 -m workload.dash.client SPEC

The sockets are connected before the program starts (source.py). It prints "ready", waits for the 8
bytes of the trial's start on a pipe, and plays until the end of the trial. Then it writes the
tables and one JSON line, which source.py reads.

A timerfd(2) is exact to the nanosecond; the timeout of epoll_wait(2) is in whole milliseconds. Only
the Python of a real machine may be too old for a timerfd, and its clock is not so exact, either.
The program reads the clock once per wakeup: all events of a wakeup have the same time.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workload.dash import tables
from workload.dash.parameters import NS_PER_S, Parameters
from workload.dash.player import Player
from workload.dash.rules import RULES, State, rate_bit_per_s
from workload.dash.tables import Segment, StallRow
from workload.dash.video import Video, start_ns

LOW_WATER_BYTES = 32_768  # a body may have this many unread bytes before the program wakes up
HEAD_BYTES = 4096  # one read of an answer's head; it may take the beginning of the body, too
DROPPED_BYTES = 1 << 20  # one read of a body, which the kernel drops
HEAD_END = b"\r\n\r\n"
BYTES_RECEIVED = struct.Struct("<Q"), 128  # tcpi_bytes_received in struct tcp_info
MCL_CURRENT = 1
HAS_TIMERFD = hasattr(os, "timerfd_create")


class BrokenError(Exception):
    """A connection cannot be followed any further; the text says why."""


class Connection:
    """One connection to a server, with at most one request under way.

    Attributes:
        rest_bytes: of the body that is coming; None: the head is not complete.
        head_bytes: heads of all answers. part_bytes: of the body that is coming, what has come.
    """

    def __init__(self, descriptor: int, host: str) -> None:
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)
        self.host = host
        self.head = b""
        self.waiting = False
        self.rest_bytes: int | None = None
        self.status = 0
        self.head_bytes = self.part_bytes = 0
        self.low_water_bytes = 1
        self.at_t0_bytes = self.received_bytes()
        self.dropped = bytearray(DROPPED_BYTES)
        buffer_bytes = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        if buffer_bytes < 4 * LOW_WATER_BYTES:  # the kernel would enlarge it, and the window
            raise RuntimeError(f"the receive buffer has only {buffer_bytes} bytes")

    def received_bytes(self) -> int:
        """Return what the kernel has received in order."""
        form, place = BYTES_RECEIVED
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, place + form.size)
        return int(form.unpack_from(info, place)[0])

    def unread_bytes(self) -> int:
        """Return what the kernel has received and the program has not read."""
        found = fcntl.ioctl(self.socket, termios.FIONREAD, bytes(4))
        return int.from_bytes(found, sys.byteorder)

    def ask(self, path: str) -> None:
        """Send a request."""
        text = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode("ascii")
        try:
            sent = self.socket.send(text)
        except OSError as error:
            raise BrokenError(f"cannot send a request: {error.strerror}") from None
        if sent != len(text):
            raise BrokenError("cannot send a request: the send buffer is full")
        self.waiting = True

    def take(self) -> bool:
        """Read what has come; return whether the answer is complete."""
        while self._some():
            if self.rest_bytes == 0:
                self.waiting, self.rest_bytes, self.head, self.part_bytes = False, None, b"", 0
                self._mark_low_water(1)
                return True
        rest_bytes = self.rest_bytes or 1
        self._mark_low_water(min(rest_bytes, LOW_WATER_BYTES))
        return False

    def _some(self) -> bool:
        """Read once; return False if there was nothing."""
        try:
            if self.rest_bytes is None:
                return self._begin(self.socket.recv(HEAD_BYTES))
            most = min(self.rest_bytes, DROPPED_BYTES)
            count = self.socket.recv_into(self.dropped, most, socket.MSG_TRUNC)
        except BlockingIOError:
            return False
        except OSError as error:
            raise BrokenError(f"connection lost: {error.strerror}") from None
        if not count:
            raise BrokenError("connection lost: the server closed it")
        self._body(count)
        return True

    def _begin(self, data: bytes) -> bool:
        if not data:
            raise BrokenError("connection lost: the server closed it")
        if not self.waiting:
            raise BrokenError("the server sends what nobody asked for")
        head, end, body = (self.head + data).partition(HEAD_END)
        self.head = head + end + body
        if end:
            self.head_bytes += len(head) + len(end)
            self.status, self.rest_bytes = read_head(head)
            self._body(len(body))
        return True

    def _body(self, count: int) -> None:
        assert self.rest_bytes is not None
        if count > self.rest_bytes:
            raise BrokenError("the server sends what nobody asked for")
        self.rest_bytes -= count
        self.part_bytes += count

    def _mark_low_water(self, size: int) -> None:
        if size != self.low_water_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
            self.low_water_bytes = size


def read_head(head: bytes) -> tuple[int, int]:
    """Return the status and the length of the body that an answer's head announces."""
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.casefold(): value.strip() for name, _, value in
              (line.partition(":") for line in lines)}  # fmt: skip
    try:
        return int(first.split()[1]), int(fields["content-length"])
    except (IndexError, KeyError, ValueError):
        raise BrokenError(f"the answer has no status or no length: {first[:40]}") from None


class Viewer:
    """A player with its connection and what the record has of it. Moments count from time 0."""

    def __init__(self, pair: Mapping[str, Any], params: Parameters, video: Video) -> None:
        self.pair: int = pair["pair"]
        self.connection = Connection(pair["descriptor"], pair["address"])
        self.params, self.video = params, video
        self.player = Player(params, start_ns(params, video.seed, self.pair))
        self.rows: list[Segment] = []
        self.rates: list[float] = []
        self.due_ns: int | None = self.player.due_ns()  # None: a segment is under way
        self.answered = self.bad_status = self.late_ns = self.whole_bytes = 0
        self.broken = ""

    def ask(self, now_ns: int) -> None:
        """Choose the level of the next segment and ask for it."""
        assert self.due_ns is not None
        self.player.advance(now_ns)
        number = len(self.rows)
        level = RULES[self.params.adaptation](self.params, State(
            buffer_ns=self.player.buffer_ns,
            level=self.rows[-1].level if self.rows else None,
            rates_bit_per_s=self.rates,
        ))  # fmt: skip
        self.connection.ask(self.video.path(level, number))
        self.rows.append(Segment(
            pair=self.pair, segment=number, level=level,
            bytes=self.video.size_bytes(level, number), due_ns=self.due_ns,
            requested_ns=now_ns, buffer_ns=self.player.buffer_ns,
        ))  # fmt: skip
        self.due_ns = None

    def hear(self, now_ns: int) -> None:
        """Take what has come."""
        if self.connection.waiting and self.rows[-1].first_byte_ns is None:
            self.rows[-1].first_byte_ns = now_ns
        if self.connection.take():
            self.complete(self.rows[-1], now_ns)

    def complete(self, row: Segment, now_ns: int) -> None:
        row.last_byte_ns = now_ns
        self.answered += 1
        self.whole_bytes += row.bytes
        self.bad_status += self.connection.status != 200
        self.rates.append(rate_bit_per_s(row.bytes, row.requested_ns, now_ns))
        del self.rates[: -self.params.samples]
        self.player.complete(now_ns)
        self.due_ns = self.player.due_ns()

    def end(self, now_ns: int) -> None:
        """Keep what holds at the end of the trial."""
        self.player.advance(now_ns)
        of = self.connection
        self.received_bytes = of.received_bytes() - of.at_t0_bytes
        self.unexplained_bytes = (
            self.received_bytes - of.head_bytes - len(of.head) * (of.rest_bytes is None)
            - self.whole_bytes - of.part_bytes - of.unread_bytes()
        )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return what the record has of this pair."""
        return {
            "pair": self.pair,
            "received_bytes": self.received_bytes,
            "sent": len(self.rows),
            "answered": self.answered,
            "bad_status": self.bad_status,
            "unexplained_bytes": self.unexplained_bytes,
            "late_ns": self.late_ns,
            "broken": self.broken,
            "played_from_ns": self.player.played_from_ns,
        }


class Loop:
    """Lets the viewers act until the end of the trial."""

    def __init__(self, viewers: list[Viewer]) -> None:
        self.viewers = viewers
        self.by_descriptor = {one.connection.socket.fileno(): one for one in viewers}
        self.epoll = select.epoll()
        self.timer = os.timerfd_create(time.CLOCK_MONOTONIC) if HAS_TIMERFD else None  # type: ignore[attr-defined]
        watched = [*self.by_descriptor] if self.timer is None else [self.timer, *self.by_descriptor]
        for descriptor in watched:
            self.epoll.register(descriptor, select.EPOLLIN)

    def run(self, t0_ns: int, duration_ns: int) -> None:
        now_ns = time.monotonic_ns() - t0_ns
        while now_ns < duration_ns:
            self.ask(t0_ns, now_ns)
            waiting = [one.due_ns for one in self.viewers if one.due_ns is not None]
            ready = self.wait(t0_ns + min([*waiting, duration_ns]))
            now_ns = time.monotonic_ns() - t0_ns
            if now_ns < duration_ns:
                self.hear(ready, now_ns)

    def wait(self, moment_ns: int) -> list[int]:
        """Wait until a moment, or until a connection has something; return all that are ready."""
        if self.timer is None:
            left_s = max(0, moment_ns - time.monotonic_ns()) / NS_PER_S
            return sorted(descriptor for descriptor, _ in self.epoll.poll(left_s))
        absolute: int = os.TFD_TIMER_ABSTIME  # type: ignore[attr-defined]
        # A new setting also takes back that the timer has run out.
        os.timerfd_settime_ns(self.timer, flags=absolute, initial=moment_ns)  # type: ignore[attr-defined]
        return sorted(descriptor for descriptor, _ in self.epoll.poll())

    def ask(self, t0_ns: int, now_ns: int) -> None:
        """Send the requests that are due."""
        due = [one for one in self.viewers if one.due_ns is not None and one.due_ns <= now_ns]
        for viewer in due:
            due_ns = viewer.due_ns
            assert due_ns is not None
            self.attempt(viewer, lambda viewer=viewer: viewer.ask(now_ns))
            viewer.late_ns = max(viewer.late_ns, time.monotonic_ns() - t0_ns - due_ns)

    def hear(self, ready: list[int], now_ns: int) -> None:
        for viewer in (self.by_descriptor[one] for one in ready if one != self.timer):
            self.attempt(viewer, lambda viewer=viewer: viewer.hear(now_ns))

    def attempt(self, viewer: Viewer, act: Any) -> None:
        """Act, or follow the viewer's connection no more."""
        try:
            act()
        except BrokenError as error:
            viewer.broken, viewer.due_ns = f"{error}", None
            self.epoll.unregister(viewer.connection.socket.fileno())


def write(folder: Path, viewers: list[Viewer]) -> None:
    """Write the tables: by pair, then by time."""
    tables.write(folder / tables.SEGMENTS, Segment, (row for one in viewers for row in one.rows))
    tables.write(folder / tables.STALLS, StallRow, (
        StallRow(pair=one.pair, begin_ns=stall.begin_ns, end_ns=stall.end_ns)
        for one in viewers for stall in one.player.stalls
    ))  # fmt: skip


def main() -> None:
    spec = json.loads(Path(sys.argv[1]).read_text())
    words = spec["parameters"]
    params = Parameters(**{**words, "ladder_bit_per_s": tuple(words["ladder_bit_per_s"])})
    video = Video(params, spec["seed"])
    loop = Loop([Viewer(pair, params, video) for pair in spec["pairs"]])
    # At the first use of a page, the kernel may read it from a disk, and in virtual time the clock
    # jumps during this wait. Locking prevents this, unless the user lacks the right.
    ctypes.CDLL(None).mlockall(MCL_CURRENT)
    print("ready", flush=True)
    t0_ns = int.from_bytes(os.read(spec["start"], 8), "little")
    loop.run(t0_ns, params.duration_ns)
    for viewer in loop.viewers:
        viewer.end(params.duration_ns)
    write(Path(spec["folder"]), loop.viewers)
    print(json.dumps([viewer.facts() for viewer in loop.viewers]), flush=True)


if __name__ == "__main__":
    main()
