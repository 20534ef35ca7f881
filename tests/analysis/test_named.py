# SPDX-License-Identifier: GPL-2.0-only
"""Levels in words: short where they can be, and never two factors alike."""

from __future__ import annotations

import pytest

from analysis.report import named


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"queue.policy": "plain", "queue.buffer_cells": 250}, "plain, buffer 250 cells"),
        ({"topology.delay_us": 5000.0}, "delay 5000 us"),
        ({"topology.rate_bit_per_s": 10_000_000}, "rate 10000000 bit/s"),
        ({"workload.duration_s": 10, "tcp.flavor": "sack"}, "duration 10 s, sack"),
        ({"queue.kind": "codel", "topology.pairs": 2}, "queue codel, pairs 2"),
        ({"tcp.ecn": True}, "ecn true"),
        ({"policy": "SD", "buffer": 0.5}, "policy SD, buffer 0.5"),
        (
            {"topology.delay_us": 10, "topology.path.delay_us": 20, "topology.pairs": 2},
            "topology.delay_us 10, topology.path.delay_us 20, pairs 2",
        ),
        ({"queue.policy": "x", "tcp.flavor": "x"}, "queue.policy x, tcp.flavor x"),
    ],
)
def test_a_trial_in_words(levels: dict[str, object], words: str) -> None:
    assert named.trial(levels, 1) == f"{words}, seed 1"


def test_one_level_in_place_of_another() -> None:
    factors = ["queue.buffer_cells", "queue.policy", "buffer"]
    said = [named.change(name, "b", "a", factors) for name in factors]
    assert said == ["buffer b instead of a cells", "b instead of a", "buffer b instead of a"]
