# SPDX-License-Identifier: GPL-2.0-only
"""How long a ping's answer is waited for."""

from __future__ import annotations

import pytest

from harness.agent.probe import ping_argv


@pytest.mark.parametrize(
    ("wait_s", "words"),
    [
        (10.02, ["-W", "10.020"]),
        (1999.9, ["-W", "1999.900"]),
        # iputils counts the microseconds of -W in 32 bits.
        (2147.5, ["-w", "2148", "-i", "2148"]),
        (172_810, ["-w", "172810", "-i", "172810"]),
    ],
)
def test_a_ping_waits_longer_than_any_path(wait_s: float, words: list[str]) -> None:
    assert ping_argv("10.2.0.1", wait_s) == ["ping", "-4", "-c", "1", *words, "10.2.0.1"]
