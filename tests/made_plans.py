# SPDX-License-Identifier: GPL-2.0-only
"""Whole plans for tests that are about a part of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from plan import plan as plans
from plan.plan import Plan

CELLS = {
    "kind": "cells",
    "policy": "epd",
    "buffer_cells": 531,
    "threshold_ppm": 800_000,
    "threshold_minus_cells": None,
    "z_ppm": None,
}
PLAN: dict[str, Any] = {
    "format": plans.FORMAT,
    "experiment": "made",
    "study": None,
    "factors": {},
    "seed": 1,
    "topology": {
        "pairs": 1,
        "rate_bit_per_s": 45_000_000,
        "delay_ns": 5_000_000,
        "access_rate_bit_per_s": 149_760_000,
        "access_delay_ns": 5_000,
        "mss_bytes": 1024,
        "delay": "constant",
    },
    "queue": {"down": CELLS, "up": CELLS},
    "tcp": {
        "flavor": {
            "name": "vanilla",
            "congestion": "cellbed_vanilla",
            "module": "cellbed_tcp",
            "sysctl": {},
            "parameters": {},
            "route": {},
        },
        "window_bytes": 65_535,
        "ssthresh_segments": 64,
    },
}


def plan_json(*changes: Mapping[str, Any], workload: str = "www") -> dict[str, Any]:
    """A plan as it stands in a record, with these keys laid over it at any depth."""
    kind = plans.WORKLOADS[workload]
    load = plans.to_json(kind.Parameters())
    topology = plans.part(plans.Topology, PLAN["topology"])
    queue = plans.part(plans.Queues, PLAN["queue"]).down
    wanted = [kind.Settings().wanted(topology, queue) for kind in plans.CAPTURES.kinds.values()]
    record = {key: value for one in wanted for key, value in plans.to_json(one).items()}
    # Not deepcopy(), by which the two queues would stay one.
    found: dict[str, Any] = json.loads(json.dumps({**PLAN, "workload": load, "record": record}))
    for change in changes:
        _lay(found, change)
    return found


def plan(*changes: Mapping[str, Any], workload: str = "www") -> Plan:
    """The same, read."""
    return plans.from_json(plan_json(*changes, workload=workload))


def _lay(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(under.get(key), dict):
            _lay(under[key], value)
        else:
            under[key] = value
