# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of a netlink message, which are found without reading all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from topology import netlink
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
