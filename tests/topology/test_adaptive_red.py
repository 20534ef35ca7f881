# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED: its settings, and its request."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from topology import adaptive_red

QUEUE = adaptive_red.automatic(
    rate_bit_per_s=10_000_000,
    packet_bytes=1514,
    limit_bytes=300_000,
)


def test_automatic_settings_are_the_paper_s() -> None:
    """At 10 Mbit/s: min 5 packets, max 15, weight 0.0012, which is nearest to 2^-10."""
    assert (QUEUE.min_bytes, QUEUE.max_bytes, QUEUE.weight_log) == (7570, 22710, 10)
    fast = adaptive_red.automatic(
        rate_bit_per_s=100_000_000, packet_bytes=1000, limit_bytes=10_000_000
    )
    assert fast.min_bytes == 31_250  # 12,500 packets/s x 2.5 ms


def kernel_s_fall(idle_us: int) -> float:
    """red_calc_qavg_from_idle_time: what is left of the average."""
    log, table = adaptive_red.idle_table(QUEUE)
    idle_us = min(idle_us, 255 << log)
    shift = table[idle_us >> log]
    return 2.0**-shift if shift else max(1 - idle_us / 2**log, 0.5)


def test_the_average_falls_while_idle_as_packets_of_nothing_would_make_it() -> None:
    log, table = adaptive_red.idle_table(QUEUE)
    assert (len(table), max(table)) == (256, 31)

    def exact(idle_us: int) -> float:
        return float((1 - 2**-10) ** (idle_us * 10 / 8 / 1514))

    for idle_us in (1_000, 10_000, 100_000):
        # A cell is a power of two: its length is off by up to 2^0.5.
        assert 1 - kernel_s_fall(idle_us) == pytest.approx(1 - exact(idle_us), rel=0.25)
    # Half a cell from its middle, and half a shift by rounding.
    bound = exact(1 << log) ** -0.5 * 2**0.5
    for idle_us in range(1_000, 20_000_000, 7_000):
        assert 1 / bound <= kernel_s_fall(idle_us) / exact(idle_us) <= bound


def attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while data:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x7FFF] = data[4:length]
        data = data[-(-length // 4) * 4 :]
    return found


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({}, 4),
        ({"ecn": True}, 5),
        ({"ecn": True, "drop_above_max": True}, 7),
    ],
)
def test_the_flags_are_where_the_kernel_looks(change: dict, flags: int) -> None:
    body = adaptive_red.request(replace(QUEUE, **change), 7, parent=0x10001).body
    assert struct.unpack_from("=i", body, 4)[0] == 7
    assert struct.unpack_from("=I", body, 12)[0] == 0x10001
    outer = attributes(body[20:])
    assert outer[1] == b"red\0"
    inner = attributes(outer[2])
    assert set(inner) == {1, 2, 3}  # no TCA_RED_FLAGS
    assert struct.unpack("=III4B", inner[1])[-1] == flags


def test_gentle_has_a_place_of_its_own() -> None:
    """In tc_red_qopt its bit is the user's, and with flags in both places the kernel refuses."""
    body = adaptive_red.request(replace(QUEUE, gentle=True, ecn=True), 7).body
    inner = attributes(attributes(body[20:])[2])
    assert struct.unpack("=III4B", inner[1])[-1] == 0
    assert struct.unpack("=II", inner[4]) == (1 | 4 | 16, 1 | 2 | 4 | 16)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limit_bytes": 1000}, "max_bytes = 22710: allowed are 7571 to 1000"),
        ({"limit_bytes": 30, "min_bytes": 10, "max_bytes": 20}, "limit_bytes = 30: allowed are"),
        ({"weight_log": 20}, "weight_log = 20: allowed are 1 to 16"),
        ({"probability": 0.9}, "probability = 0.9: allowed are 0.01 to 0.5"),
    ],
)
def test_what_is_out_of_range_is_named(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(QUEUE, **change)
