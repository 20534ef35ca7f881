# SPDX-License-Identifier: GPL-2.0-only
"""Each fidelity check fails when, and only when, what it watches is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from harness import checks

PLAN = {
    "topology": {"rate_bit_per_s": 45_000_000, "mss_bytes": 512},
    "tcp": {"window_bytes": 65_535},
}


def queue() -> dict[str, Any]:
    return {
        "busy_ns": 9_422_222 * 100,
        "cells_sent": 100_000,
        "faults_total": 0,
        "frames": {"in": 50, "delivered": 40},
        "frames_announced": 50,
        "frames_resolved": 50,
    }


def good() -> dict[str, Any]:
    return {
        "idle_round_trip_ns": [10_100_000.0],
        "expected_idle_round_trip_ns": 10_099_183.0,
        "queue": {"down": queue(), "up": queue()},
        "qdiscs": {"sw2-sat fq": 0},
        "links": {
            "sw2-s1": [50, 40, 0],
            "sw2-sat": [40, 40, 10],
            "sw1-sat": [40, 40, 10],
            "sw1-c1": [50, 40, 0],
        },
        "source": {"offered": 9, "accounted": 9, "bad_status": 0, "max_late_ns": 0},
    }


def test_a_good_trial_passes_all() -> None:
    assert all(verdict["ok"] for verdict in checks.judge(good(), PLAN))


def breaking(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(lab: dict[str, Any]) -> None:
        *keys, last = path.split(".")
        for key in keys:
            lab = lab[key]
        lab[last] = value

    return change


FAULTS = [
    ("link rate", "queue.down.cells_sent", 100_200),
    ("link rate", "queue.down.busy_ns", 0),
    ("idle round trip", "idle_round_trip_ns", [10_100_000.0, 10_300_000.0]),
    ("idle round trip", "idle_round_trip_ns", []),
    ("queue faults", "queue.up.faults_total", 1),
    ("conservation down", "links.sw2-s1", [51, 40, 0]),
    ("conservation down", "links.sw1-c1", [50, 39, 0]),
    ("conservation up", "links.sw2-sat", [39, 40, 10]),
    ("drops elsewhere", "qdiscs", {"sat sat-sw1 netem": 30}),
    ("requests", "source.accounted", 8),
    ("requests", "source.bad_status", 1),
    ("server errors", "source.server_complaints", ["[error] 404"]),
    ("receiver window", "source.peer_window_bytes", [65_535, 65_024, 64_512]),
    ("receiver window", "source.peer_window_bytes", []),
    ("late requests", "source.max_late_ns", 1_000_000),
]


@pytest.mark.parametrize(("name", "path", "value"), FAULTS)
def test_a_fault_fails_its_check(name: str, path: str, value: Any) -> None:
    lab = copy.deepcopy(good())
    breaking(path, value)(lab)
    failed = [verdict["name"] for verdict in checks.judge(lab, PLAN) if not verdict["ok"]]
    assert name in failed


def test_a_lan_is_held_to_its_own_round_trip() -> None:
    lab = good() | {"idle_round_trip_ns": [68_000.0], "expected_idle_round_trip_ns": 68_168.7}
    assert checks.idle_round_trip(lab, PLAN)["ok"]
    assert not checks.idle_round_trip(lab | {"idle_round_trip_ns": [70_000.0]}, PLAN)["ok"]
