# SPDX-License-Identifier: GPL-2.0-only
"""Packets that enter a queue and leave it are put together; one that was not seen is told."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from topology import sojourn

IN, OUT = 0, sojourn.OUTGOING


class Link:
    """A packet socket with the packets that a test puts into it."""

    def __init__(self, *waiting: tuple[int, int, bytes], lost: int = 0) -> None:
        self.waiting = list(waiting)
        self.lost = lost

    def recvmsg(self, size: int, extra: int) -> tuple[Any, ...]:
        if not self.waiting:
            raise BlockingIOError
        time_ns, kind, data = self.waiting.pop(0)
        stamp = sojourn.TIME.pack(*divmod(time_ns, sojourn.NS))
        told = [(socket.SOL_SOCKET, sojourn.SO_TIMESTAMPNS, stamp)]
        return data[:size], told, 0, ("dev", sojourn.ETH_P_IP, kind, 1, b"")

    def getsockopt(self, level: int, name: int, size: int) -> bytes:
        return sojourn.STATISTICS.pack(9, self.lost)


def packet(number: int, *, ecn: int = 2, source: int = 1) -> bytes:
    head = struct.pack("!BBHHHBBHII", 0x45, ecn, 1500, number, 0, 64, 6, ecn, source, 9)
    return head + struct.pack("!HHI", 5201, 40000, 1448 * number)


def follower(entries: list[Link], way_out: Link) -> sojourn.Follower:
    return sojourn.Follower(entries, way_out)  # type: ignore[arg-type]


def test_each_packet_that_left_has_its_pair_its_mark_and_its_time() -> None:
    first = Link((1_000, IN, packet(1)), (1_500, IN, packet(2)))
    second = Link((1_200, IN, packet(1, source=2)))
    out = Link((4_000, OUT, packet(1, source=2)), (5_000, OUT, packet(1, ecn=3)))
    found = follower([first, second], out)
    found.enter()
    assert [*found.leave()] == [(4_000, 2, 1500, 2, 2_800), (5_000, 1, 1500, 3, 4_000)]


def test_what_comes_from_the_other_side_is_no_packet_of_the_queue() -> None:
    found = follower([Link((1, OUT, packet(1)))], Link((2, IN, packet(1))))
    found.enter()
    assert [*found.leave()] == []


def test_a_packet_may_enter_and_leave_at_one_moment() -> None:
    found = follower([Link((7, IN, packet(3)))], Link((7, OUT, packet(3))))
    assert [*found.leave()] == [(7, 1, 1500, 2, 0)]


def test_a_packet_that_did_not_enter_is_told() -> None:
    found = follower([Link((7, IN, packet(3)))], Link((8, OUT, packet(4))))
    with pytest.raises(sojourn.LostError, match="left at 8 ns that did not enter: 45"):
        next(iter(found.leave()))


@pytest.mark.parametrize("lost", [(1, 0), (0, 1)])
def test_a_socket_without_room_is_told(lost: tuple[int, int]) -> None:
    found = follower([Link(lost=lost[0])], Link(lost=lost[1]))
    with pytest.raises(sojourn.LostError, match="no room for 1 packets"):
        found.check()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    yield ends
    for end in ends:
        end.close()


def test_the_rest_is_taken_in_when_the_end_is_asked_for(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last packets have come when the program is told to end."""
    waiting = [(9, packet(1))]
    monkeypatch.setattr(
        sojourn, "packets",
        lambda link, *, outgoing: iter([waiting.pop()]) if outgoing and waiting else iter(()),
    )  # fmt: skip
    found = follower([], pair[0])  # type: ignore[arg-type]
    found._entered[sojourn.key(packet(1))] = 4, 1
    monkeypatch.setattr(sojourn.Follower, "check", lambda self: None)
    assert [*sojourn.follow(found, lambda: True)] == [(9, 1, 1500, 2, 5)]
