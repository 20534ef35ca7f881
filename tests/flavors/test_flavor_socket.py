# SPDX-License-Identifier: GPL-2.0-only
"""What a process does to a connection of the module's: look, close, hand it on, pace it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from tests.flavors.runner import Runner, run_script

pytestmark = pytest.mark.lab

LINK = Link()  # 50 ms one way
SEGMENT = 1000
LARGEST_WINDOW = 65535 << 14  # RFC 7323, 2.2


def case(flavor: str, *, byte_window: bool = True, **changed: Any) -> dict[str, Any]:
    """One connection: 20 segments without a loss unless said otherwise."""
    loaded = flavors.load(flavor).with_parameters({"byte_window": byte_window})
    plain = {"segments": 20, "drops": {}, "at_ns": None, "act": "none", "more": 0}
    return plain | changed | {"flavor": loaded.as_dict()}


def run_cases(folder: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results = run_script("socket_in_lab.py", {"link": asdict(LINK), "cases": cases}, folder)
    assert isinstance(results, list)
    return results


@pytest.mark.parametrize("byte_window", [False, True])
def test_the_window_that_can_be_asked_for_is_the_congestion_window(
    tmp_path: Path, byte_window: bool
):
    """Slow start from one segment, 20 ACKs: 21 segments. tcp_info says so too, as nothing is
    held back; it is what ss shows."""
    unit = 1 if byte_window else SEGMENT
    four = ("vanilla", "reno", "newreno", "sack")
    for found in run_cases(tmp_path, [case(f, byte_window=byte_window) for f in four]):
        assert found["before"] == {
            "cwnd": 21, "bytes": 21 * SEGMENT, "unit": unit, "mss": SEGMENT
        }  # fmt: skip


def test_the_window_of_a_sender_that_it_holds_back(tmp_path: Path):
    """Slow start with more to send: at .45 s the segments sent at 0, .1, .2 and .3 s are
    acknowledged, 1 + 2 + 4 + 8."""
    [found] = run_cases(tmp_path, [case("reno", segments=200, at_ns=450_000_000)])
    assert found["before"]["bytes"] == 16 * SEGMENT


def test_a_fin_of_its_own_leaves_at_once(tmp_path: Path):
    """An idle connection closes: one way later the receiver knows."""
    [found] = run_cases(tmp_path, [case("reno", act="fin")])
    assert LINK.delay_ns <= found["seen_ns"] < LINK.delay_ns + 5_000_000


def test_a_window_beyond_two_gigabytes(run_connections: Runner):
    """300,000 segments of 9180 bytes: cwnd is the largest there can be, all leaves at once."""
    reno = flavors.load("reno").with_parameters({"byte_window": True}).for_hosts()
    connection = Connection(
        id="large", flavor=reno, payload_bytes=9180, writes=[(0, 40 * 9180)], initcwnd=300_000
    )
    [outcome] = run_connections([connection], Link(mtu_bytes=9220))
    assert [s.time_s < 0.001 for s in outcome.sent] == [True] * 40
    assert outcome.info["window_bytes"] == LARGEST_WINDOW


@pytest.mark.parametrize("flavor", ["vanilla", "reno", "newreno", "sack"])
def test_a_connection_that_is_handed_on_goes_on(tmp_path: Path, flavor: str):
    """To Linux's own reno, with the window: 21 segments."""
    [found] = run_cases(tmp_path, [case(flavor, act="reno", more=40)])
    assert found["after"]["cwnd"] == 21
    assert found["finished"]


@pytest.mark.parametrize("act", ["reno", "pace"])
def test_the_timer_of_a_connection_that_is_changed_while_it_waits(tmp_path: Path, act: str):
    """The last segment is lost; 10 ms before its timeout, when the kernel's timer is over and
    the rest is waited for, the connection is handed on, or paced. It times out all the same."""
    lost = {"19": [0]}
    (tmp_path / "first").mkdir()
    [undisturbed] = run_cases(tmp_path / "first", [case("vanilla", drops=lost, at_ns=1)])
    [timeout_ns] = undisturbed["again_ns"]
    changed = case("vanilla", drops=lost, at_ns=timeout_ns - 10_000_000, act=act)
    (tmp_path / "second").mkdir()
    [found] = run_cases(tmp_path / "second", [changed])
    assert found["finished"]
    [again_ns] = found["again_ns"]
    assert abs(again_ns - timeout_ns) < 40_000_000


@pytest.mark.parametrize(
    ("at_ms", "lost", "again"),
    [(550, {"19": [0]}, 1), (450, {}, 0)],
    ids=["a segment is lost", "its ACK waits"],
)
def test_a_timer_leaves_alone_a_socket_that_a_process_owns(
    tmp_path: Path, at_ms: int, lost: dict[str, list[int]], again: int
):
    """The timeout is over meanwhile. A look at the socket would be a warning of the kernel's.

    The last five segments leave at 400 ms, and are acknowledged at 500 ms. Who owns the socket
    then lets go of it, and what came for it meanwhile goes first.
    """
    owned = case("vanilla", drops=lost, at_ns=at_ms * 1_000_000, act="own")
    [found] = run_cases(tmp_path, [owned])
    begin_ns, end_ns = found["acted_ns"]
    assert end_ns - begin_ns > 3_000_000_000
    assert found["finished"] and len(found["again_ns"]) == again
    assert all(end_ns - 1_000_000 < at_ns < end_ns + 1_000_000 for at_ns in found["again_ns"])
