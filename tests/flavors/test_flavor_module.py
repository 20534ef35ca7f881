# SPDX-License-Identifier: GPL-2.0-only
"""The module under many connections: side by side, without a leak, not unloaded in use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.agent import flavor as agent_flavor
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from plan.errors import LabError
from tests.flavors.runner import Runner, run_script

pytestmark = pytest.mark.lab

CLASSIC = ("vanilla", "reno", "newreno", "sack")
HEADERS_BYTES = 40


@pytest.fixture(scope="module")
def four() -> list[flavors.Flavor]:
    return [flavors.load(name) for name in CLASSIC]


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory, four) -> dict[str, Any]:
    """25 connections of each flavor, GEO, MSS 9180, one bottleneck for all."""
    job = {
        "flavors": [f.as_dict() for f in four],
        "connections": 25,
        "at_once": 25,
        "bytes": 1_000_000,
        "mtu_bytes": 9180 + HEADERS_BYTES,
        "rate_bit_per_s": 45_000_000,
        "delay_ns": 275_000_000,
        "limit_ns": 400_000_000_000,
    }
    return run_script("in_lab.py", job, tmp_path_factory.mktemp("side"), memory_mib=2048)


def test_every_connection_is_of_its_flavor(side_by_side, four):
    for flavor, described in zip(four, side_by_side["described"], strict=True):
        expected = {
            "congestion": flavor.congestion,
            "sack": flavor.name == "sack",
            "timestamps": False,
            "mss": 9180,
        }
        assert described == [expected] * 25, flavor.name


def test_all_data_of_all_flavors_arrives(side_by_side):
    assert side_by_side["received"] == [25_000_000] * 4


def test_each_flavor_recovers_its_own_way(side_by_side):
    vanilla, reno, newreno, sack = side_by_side["counters"]
    assert vanilla["TCPTimeouts"] > 0
    assert vanilla["TCPRenoRecovery"] == vanilla["TCPSackRecovery"] == 0
    for counted in (reno, newreno):
        assert counted["TCPRenoRecovery"] > 0
        assert counted["TCPSackRecovery"] == 0
    assert sack["TCPSackRecovery"] > 0
    assert sack["TCPRenoRecovery"] == 0


def test_no_flavor_has_touched_anothers_settings(side_by_side, four):
    wanted = [agent_flavor.settings(f.for_hosts()) for f in four for _ in ("sender", "receiver")]
    assert side_by_side["settings"] == wanted


def test_unloading_while_in_use_is_refused(side_by_side):
    assert "in use" in side_by_side["refusal"]
    assert side_by_side["in_use"] >= 200  # both ends of 100 connections
    assert side_by_side["left_references"] == 0
    assert side_by_side["last_references"] == 0
    assert side_by_side["removed"] == ""


@pytest.mark.parametrize(
    "parameters",
    [{}, {"resend_boundaries": "anew", "multiple_fast_retransmits": True}],
    ids=["cut once", "cut anew"],
)
def test_a_thousand_connections_leave_nothing(tmp_path: Path, four, parameters):
    """With losses and windows in bytes: what is cut from the queue must be freed too."""
    changed = {"byte_window": True, **parameters}
    job = {
        "flavors": [f.with_parameters(changed).as_dict() for f in four],
        "connections": 250,
        "at_once": 50,
        "bytes": 20_000,
        "mtu_bytes": 1064,
        "rate_bit_per_s": 45_000_000,
        "delay_ns": 5_000_000,
        "limit_ns": 400_000_000_000,
    }
    result = run_script("in_lab.py", job, tmp_path, memory_mib=2048)
    assert result["received"] == [250 * 20_000] * 4
    assert sum(c["TCPTimeouts"] for c in result["counters"]) > 0
    assert result["left_references"] == 0
    assert result["sockets"]["after"] == result["sockets"]["idle"]
    assert grown(result["slabs"]) == {}
    assert result["removed"] == ""
    assert result["warnings"] == []


def grown(rounds: list[dict[str, int]]) -> dict[str, int]:
    """Caches of the kernel that gained an object for every tenth connection or more.

    From round to round, since the first fills what the kernel keeps.
    """
    assert {"TCP", "skbuff_head_cache", "skbuff_fclone_cache", "kmalloc-64"} <= set(rounds[0])
    connections = 4 * 50 * (len(rounds) - 1)
    gained = {name: used - rounds[0].get(name, 0) for name, used in rounds[-1].items()}
    return {name: count for name, count in gained.items() if 10 * count >= connections}


def refused(run: Runner, flavor: flavors.Flavor) -> str:
    with pytest.raises(LabError) as caught:
        run([Connection(id="x", flavor=flavor.for_hosts(), writes=[(0, 1000)])], Link())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_kernel_refuses_a_wrong_flavor_before_anything_runs(run_connections: Runner, four):
    sack = four[3]
    unknown = replace(sack, sysctl={**sack.sysctl, "tcp_no_such": 1})
    assert "flavor sack: this kernel has no sysctl net.ipv4.tcp_no_such" in refused(
        run_connections, unknown
    )
    missing = replace(sack, congestion="cellbed_tahoe")
    assert "this kernel has no congestion control cellbed_tahoe" in refused(
        run_connections, missing
    )
    long = replace(sack, parameters={**sack.parameters, "rto_tick_ms": 1001})
    message = refused(run_connections, long)
    assert "net.ipv4.cellbed.rto_tick_ms = 1001: Invalid argument" in message
