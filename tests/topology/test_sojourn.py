# SPDX-License-Identifier: GPL-2.0-only
"""Packets that enter a queue and leave it are put together; one that was not seen is told."""

from __future__ import annotations

import csv
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
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


RESET = packet(0, ecn=0)


@pytest.mark.parametrize(
    ("entered", "left", "times"),
    [
        ([10, 20], [15, 26], [5, 6]),  # the first had left when the second came
        ([10, 20], [30, 31], [20, 11]),  # both were in the queue
        ([10, 1_000], [1_003], [3]),  # the queue dropped the first
        ([10, 1_000], [12], [2]),  # and here the second
        ([10, 20, 30], [25, 36], [5, 6]),
    ],
)
def test_packets_may_be_equal(
    entered: list[int], left: list[int], times: list[int], tmp_path: Path
) -> None:
    """As resets are. The other rows keep their times."""
    link = Link((1, IN, packet(1)), *((time, IN, RESET) for time in entered))
    out = Link((4, OUT, packet(1)), *((time, OUT, RESET) for time in left))
    found = follower([link], out)
    found.enter()
    rows = [*found.leave()]
    table = tmp_path / "table.csv"
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    sojourn.put_in(found.late(), table)
    with table.open(newline="") as stream:
        kept = [[*map(int, row)] for row in csv.reader(stream)]
    assert kept[0] == [4, 1, 1500, 2, 3]
    assert [row[:4] for row in kept[1:]] == [[time, 1, 1500, 0] for time in left]
    assert [row[4] for row in kept[1:]] == times
    assert [*tmp_path.iterdir()] == [table]


def test_one_packet_more_than_entered_is_told() -> None:
    link = Link((10, IN, RESET), (20, IN, RESET))
    found = follower([link], Link(*((time, OUT, RESET) for time in (30, 31, 32))))
    found.enter()
    assert len([*found.leave()]) == 3
    with pytest.raises(sojourn.LostError, match="left at 30 ns, none entered"):
        found.late()


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
