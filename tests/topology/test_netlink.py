# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of a netlink message, which are found without reading all of them."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from topology import netlink, rtnetlink
from topology.rtnetlink import attribute

MESSAGE = b"head" + attribute(3, b"eth0\0") + attribute(9, b"x") + attribute(23, b"counters")


def test_attributes_are_found_in_the_order_that_is_asked_for() -> None:
    assert netlink.find(MESSAGE, 4, 23, 3) == [b"counters", b"eth0\0"]


def test_nothing_behind_the_last_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(message: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
        yield from ((3, b"eth0"), (23, b"counters"))
        raise AssertionError("it reads on")

    monkeypatch.setattr(netlink, "attributes", broken_off)
    assert netlink.find(b"", 0, 3, 23) == [b"eth0", b"counters"]


def test_one_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        netlink.find(MESSAGE, 4, 3, 4)


def test_of_qdiscs_only_netem_at_a_root_has_a_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the form of the request that sets one, which also has the head and LATENCY64."""
    asked = rtnetlink.netem(7, 1000, 275_000_000, bytes(16)).body
    other = netlink.TCMSG.pack(0, 8, 0, netlink.TC_H_ROOT, 0)
    other += attribute(netlink.TCA_KIND, b"noqueue\0")  # it has no options
    inner = netlink.TCMSG.pack(0, 9, 0, 0x10001, 0) + asked[netlink.TCMSG.size :]
    monkeypatch.setattr(netlink, "dump", lambda *_: iter([other, asked, inner]))
    with socket.socket() as any_socket:
        assert list(netlink.netem_delays(any_socket)) == [(7, 275_000_000)]
