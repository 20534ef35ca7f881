# SPDX-License-Identifier: GPL-2.0-only
"""A kind of delay that makes another link of the middle one has it for as long as it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest

from plan.dumbbell import Dumbbell
from plan.layout import Link
from plan.plan import DELAYS
from topology import delay

LINK = Link(rate_bit_per_s=10_000_000, delay_ns=5_000_000)
WAN = Dumbbell(pairs=1, access=LINK, middle=LINK, mss_bytes=1024)


class OneWay(delay.Delay):
    """All of it down."""

    @staticmethod
    def link(middle: Link, direction: str) -> Link:
        return replace(middle, delay_ns=2 * middle.delay_ns if direction == "down" else 0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of what tc is asked, the device and the delay of each line."""
    found: list[str] = []

    def batch(_tool: str, lines: Sequence[str]) -> None:
        words = [line.split() for line in lines]
        found.extend(f"{line[3]} {line[line.index('delay') + 1]}" for line in words)

    monkeypatch.setattr(delay, "batch", batch)
    monkeypatch.setattr(delay, "in_namespace", lambda pid: nullcontext())
    return found


def test_it_is_there_while_it_lasts(asked: list[str]) -> None:
    with OneWay(1, WAN):
        assert asked == ["sat-sw1 10000000ns", "sat-sw2 0ns"]
        asked.clear()
    assert asked == ["sat-sw1 5000000ns", "sat-sw2 5000000ns"]


def test_the_constant_one_is_as_the_network_was_built(asked: list[str]) -> None:
    with DELAYS["constant"].Delay(1, WAN):
        pass
    assert asked == []
