# SPDX-License-Identifier: GPL-2.0-only
"""Each fidelity check fails when, and only when, what it watches is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from harness.judge import fidelity
from harness.judge.checks.flavors import flavors
from harness.judge.checks.link import idle_round_trip, link_rate
from plan import plan as plans
from plan.checks import CheckResult
from plan.facts import TrialFacts, read
from plan.plan import QUEUES, Plan
from tests import made_plans
from workload.iperf.checks import idle_sources, receiver_window

WINDOW = {"topology": {"mss_bytes": 512}, "tcp": {"window_bytes": 65_535}}


def made(*changes: dict[str, Any], workload: str = "www") -> Plan:
    return made_plans.plan(WINDOW, *changes, workload=workload)


def facts(lab: dict[str, Any]) -> TrialFacts:
    return read(TrialFacts, lab)


PLAN = made()


def checks_of(lab: dict[str, Any], plan: Plan = PLAN) -> list[CheckResult]:
    return fidelity.checks_of(facts(lab), plan)


def queue() -> dict[str, Any]:
    return {
        # What the model says of itself: no check looks at it.
        "busy_ns": 1,
        "cells_sent": 1,
        "wire": {"busy_ns": 9_422_222 * 100, "cells": 100_000, "stretches": 100},
        "faults_total": 0,
        "frames": {"in": 50, "delivered": 40},
        "frames_announced": 50,
        "frames_resolved": 50,
        "frames_late": 0,
    }


def good() -> dict[str, Any]:
    return {
        "idle_round_trip_ns": [10_100_000.0],
        "expected_idle_round_trip_ns": 10_099_183.0,
        "queue": {"down": queue(), "up": queue()},
        "losses": {"namespaces": 4, "elsewhere": {}, "at_port": {"down": 10, "up": 10}},
        "links": {
            "sw2-s1": [50, 40, 0],
            "sw2-sat": [40, 40, 0],
            "sw1-sat": [40, 40, 0],
            "sw1-c1": [50, 40, 0],
        },
        "source": {
            "offered": 9,
            "answered": 8,
            "outstanding": 1,
            "unsent": 0,
            "bad_status": 0,
            "broken": [],
            "unexplained_bytes": [0],
            "peer_window_bytes": [65_024],
            "server_complaints": [],
            "max_late_ns": 0,
        },
    }


def real() -> dict[str, Any]:
    """As `good`, on a clock that runs on while the lab computes, and with a capture."""
    return good() | {
        "realtime": {"stall_p99_ns": 100_000, "clock_step_ns": 1000},
        "capture": {"ports": {"down": {"packets": 80}}},
    }


def persistent() -> dict[str, Any]:
    source = {"idle_sources": 0, "peer_window_bytes": [65_535], "received_whole_bytes": [512]}
    return good() | {"source": source}


def closed_loop() -> dict[str, Any]:
    return good() | {
        "source": {
            "failed_calls": 0,
            "unexplained_bytes": [0],
            "peer_window_bytes": [65_535],
            "server_complaints": [],
        }
    }


LOADS = {"www": good, "iperf": persistent, "wrk": closed_loop}


def judged(lab: dict[str, Any], load: str = "www") -> dict[str, bool]:
    found = checks_of(lab, made(workload=load))
    return {check["name"]: check["ok"] for check in found}


@pytest.mark.parametrize("load", LOADS)
def test_a_good_trial_passes_all(load: str) -> None:
    assert all(judged(LOADS[load](), load).values())
    assert all(judged(real()).values())


def test_each_workload_has_the_checks_that_its_source_can_answer() -> None:
    common = ["link rate", "idle round trip", "queue faults", "conservation down",
              "conservation up", "drops elsewhere"]  # fmt: skip
    assert list(judged(good())) == [
        *common, "requests", "server errors", "receiver window", "late requests"
    ]  # fmt: skip
    assert list(judged(persistent(), "iperf")) == [*common, "idle sources", "receiver window"]
    assert list(judged(closed_loop(), "wrk")) == [
        *common, "answers", "server errors", "receiver window"
    ]  # fmt: skip
    of_the_delay = ["round trips", "delay faults"]
    assert list(judged_web(web())) == [
        *common, "requests", "receiver window", "late requests", "handshakes", "server delays",
        *of_the_delay,
    ]  # fmt: skip
    assert list(judged_web(good() | {"source": {}})) == list(judged_web(web()))


@pytest.mark.parametrize(
    ("facts_of", "failed"),
    [
        ({"received_whole_bytes": [512, 0], "lost": 1}, []),  # never got a segment through
        ({"received_whole_bytes": [512, 0], "lost": 0}, ["idle sources", "receiver window"]),
        ({"received_whole_bytes": [512, 9], "lost": 1}, ["idle sources", "receiver window"]),
        ({"received_whole_bytes": [512, 37], "lost": 1}, []),  # iperf3's cookie, and no data
        ({"received_whole_bytes": [512, 37], "lost": 0}, ["idle sources", "receiver window"]),
        ({"received_whole_bytes": [512, 0], "lost": 1, "idle_sources": 2}, ["idle sources"]),
        ({"received_whole_bytes": [0, 0], "lost": 1, "idle_sources": 2}, []),
    ],
)
def test_a_source_that_never_got_through_starved(
    facts_of: dict[str, Any], failed: list[str]
) -> None:
    """Idle and without a window, in a trial with losses: no fault. Any other is."""
    lab = persistent()
    lost, idle = facts_of["lost"], facts_of.get("idle_sources", 1)
    lab["losses"] = lab["losses"] | {"at_port": {"down": lost, "up": 0}}
    lab["source"] |= {"idle_sources": idle, "peer_window_bytes": [65_535, None]}
    lab["source"]["received_whole_bytes"] = facts_of["received_whole_bytes"]
    found = {check.__name__: check(facts(lab), PLAN) for check in (idle_sources, receiver_window)}
    assert [name.replace("_", " ") for name, one in found.items() if not one["ok"]] == failed


@pytest.mark.parametrize(
    ("told", "received", "ok"),
    [
        ([262_140, 65_535], [512, 0], True),
        ([262_140, 65_535], [512, 512], False),
        ([262_140, 40_000], [512, 0], False),
        ([65_535, 65_535], [512, 0], False),
    ],
)
def test_a_starved_source_knows_only_the_window_of_the_handshake(
    told: list[int], received: list[int], ok: bool
) -> None:
    """Which no SYN can scale: 65,535 bytes at most. Data of a source bring the whole window."""
    plan = made({"tcp": {"window_bytes": 262_140}})
    lab = persistent()
    lab["losses"] = lab["losses"] | {"at_port": {"down": 1, "up": 0}}
    lab["source"] |= {"peer_window_bytes": told, "received_whole_bytes": received}
    assert receiver_window(facts(lab), plan)["ok"] == ok


def lossy(lost: int, links: int = 100) -> dict[str, bool]:
    """Of 10,000 packets down, which is to lose 1 %, so many counted and so many missing."""
    lab = good()
    lab["losses"]["on_path"] = {"down": lost}
    all_pass = {"in": 10_000, "delivered": 10_000}
    announced = {"frames_announced": 10_000, "frames_resolved": 10_000}
    lab["queue"]["down"] |= {"frames": all_pass, **announced}
    lab["links"] |= {
        "sw2-s1": [10_000, 40, 0],
        "sw2-sat": [40, 10_000, 0],
        "sw1-sat": [10_000 - links, 40, 0],
        "sw1-c1": [50, 10_000 - links, 0],
    }
    loss = {"share": 0.01, "burst_packets": None, "burst_share": 1.0, "direction": "down"}
    found = checks_of(lab, made({"topology": {"loss": loss}}))
    return {check["name"]: check["ok"] for check in found}


def test_what_the_path_loses_is_accounted_for() -> None:
    assert lossy(100)["path losses"] and lossy(100)["conservation down"]
    assert not lossy(100, 101)["conservation down"]  # one more is missing than was counted
    assert not lossy(99)["conservation down"]
    # Five deviations of 9.95 are 49.7 packets.
    assert lossy(150, 150)["path losses"] and not lossy(152, 152)["path losses"]
    assert not lossy(40, 40)["path losses"]


@pytest.mark.parametrize(
    ("seen", "wrong"),
    [
        ({"1": ["cubic"], "2": ["bbr"], "3": ["cubic"]}, 0),
        ({"1": ["cubic"], "2": ["bbr"], "3": []}, 0),
        ({"1": ["cubic"], "2": ["bbr"], "3": ["bbr", "cubic"]}, 1),
        ({"1": ["cubic"], "2": ["cubic"], "3": ["cubic"]}, 2),
        ({"1": ["cubic"], "2": [], "3": ["cubic"]}, 1),
        ({}, 2),
    ],
)
def test_each_pair_has_its_own_flavor(seen: dict[str, list[str]], wrong: int) -> None:
    cubic = made_plans.PLAN["tcp"]["flavor"] | {"congestion": "cubic"}
    plan = made({"tcp": {"flavor": cubic, "others": [{**cubic, "congestion": "bbr"}]}})
    found = flavors(facts({"congestion": seen}), plan)
    assert found is not None and (found["measured"], found["ok"]) == (wrong, not wrong)


def breaking(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(lab: dict[str, Any]) -> None:
        *keys, last = path.split(".")
        for key in keys:
            lab = lab[key]
        if value is MISSING:
            del lab[last]
        else:
            lab[last] = value

    return change


MISSING = object()
FAULTS = [
    ("link rate", "queue.down.wire.cells", 100_200),
    ("link rate", "queue.down.wire.cells", 99_800),
    ("link rate", "queue.up.wire.busy_ns", 0),
    ("link rate", "queue.up.wire", MISSING),
    ("idle round trip", "idle_round_trip_ns", [10_100_000.0, 10_120_000.0]),
    ("idle round trip", "idle_round_trip_ns", []),
    ("queue faults", "queue.up.faults_total", 1),
    ("conservation down", "links.sw2-s1", [51, 40, 0]),
    ("conservation down", "links.sw1-c1", [50, 39, 0]),
    ("conservation up", "links.sw2-sat", [39, 40, 0]),
    ("drops elsewhere", "losses.elsewhere", {"sat sat-sw1 netem": 1}),
    ("drops elsewhere", "losses.elsewhere", {"c1 Tcp:InCsumErrors": 8, "sat sat-sw1 netem": -8}),
    ("drops elsewhere", "losses.at_port", {"down": 11, "up": 10}),
    ("drops elsewhere", "losses.namespaces", 3),
    ("drops elsewhere", "losses", MISSING),
    ("requests", "source.answered", 7),
    ("requests", "source.unsent", 1),
    ("requests", "source.bad_status", 1),
    ("requests", "source.broken", ["pair 1: connection lost"]),
    ("requests", "source.unexplained_bytes", [-1]),
    ("requests", "source.unexplained_bytes", []),
    ("requests", "source.offered", MISSING),
    ("server errors", "source.server_complaints", ["[error] 404"]),
    ("server errors", "source.server_complaints", MISSING),
    ("receiver window", "source.peer_window_bytes", [64_512]),
    ("receiver window", "source.peer_window_bytes", [None]),
    ("receiver window", "source.peer_window_bytes", []),
    ("receiver window", "source.peer_window_bytes", MISSING),
    ("late requests", "source.max_late_ns", 1_000_000),
    ("late requests", "source.max_late_ns", None),
]
OTHER_FAULTS = [
    (persistent, "iperf", "idle sources", "source.idle_sources", 1),
    (persistent, "iperf", "idle sources", "source.idle_sources", MISSING),
    (persistent, "iperf", "receiver window", "source.peer_window_bytes", [None]),
    (persistent, "iperf", "receiver window", "source.peer_window_bytes", []),
    (closed_loop, "wrk", "answers", "source.failed_calls", 1),
    (closed_loop, "wrk", "answers", "source.unexplained_bytes", [3]),
    (real, "www", "late departures", "queue.down.frames_late", 3),
    (real, "www", "stalls", "realtime.stall_p99_ns", 20_000_000),
    (real, "www", "stalls", "realtime.stall_p99_ns", None),
    (real, "www", "clock step", "realtime.clock_step_ns", -2_000_000),
    (real, "www", "capture", "capture.ports", {"down": {"packets": 79}}),
]


@pytest.mark.parametrize(("lab", "load", "name", "path", "value"), OTHER_FAULTS)
def test_a_fault_of_another_kind_fails_its_check(
    lab: Callable[[], dict[str, Any]], load: str, name: str, path: str, value: Any
) -> None:
    broken = lab()
    breaking(path, value)(broken)
    assert [n for n, ok in judged(broken, load).items() if not ok] == [name]


# A count that two checks use.
ALSO = {"links.sw2-sat": ["conservation down"]}


@pytest.mark.parametrize(("name", "path", "value"), FAULTS)
def test_a_fault_fails_its_check(name: str, path: str, value: Any) -> None:
    lab = copy.deepcopy(good())
    breaking(path, value)(lab)
    failed = [n for n, ok in judged(lab).items() if not ok]
    assert name in failed
    assert set(failed) <= {name, *ALSO.get(path, ())}


def web() -> dict[str, Any]:
    found = good() | {"versions": {"kernel": "6.12.0"}}
    found["source"] |= {
        "unlike_connections": [0],
        "handshake_excess_ns": 212_256,
        "expected_handshake_excess_ns": 212_249.6,
        "answer_excess_ns": 526_607,
        "delay_off_ns": -9_565_000,
        "connected": 1000,
        "round_trips": {"passed": 1000, "farthest_ns": 1},
        "peer_windows_bytes": [[65_024, 65_535]],
        "delays": {"unknown": 0, "refused": 0, "not_tcp": 7},
    }
    return found


def judged_web(lab: dict[str, Any]) -> dict[str, bool]:
    found = checks_of(lab, made({"topology": {"delay": "connection"}}, workload="packmime"))
    return {check["name"]: check["ok"] for check in found}


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("requests", "source.unlike_connections", [1]),
        ("requests", "source.unlike_connections", MISSING),
        ("handshakes", "source.handshake_excess_ns", 200_000),
        ("handshakes", "source.handshake_excess_ns", 230_000),
        ("handshakes", "source.handshake_excess_ns", None),
        ("round trips", "source.round_trips.farthest_ns", 20_000),
        ("round trips", "source.round_trips.farthest_ns", -20_000),
        ("round trips", "source.round_trips.farthest_ns", None),
        ("round trips", "source.round_trips.passed", 999),
        ("round trips", "source.round_trips", MISSING),
        ("server delays", "source.delay_off_ns", 10_100_000),
        ("server delays", "source.delay_off_ns", -10_100_000),
        ("server delays", "source.answer_excess_ns", 200_000),
        ("receiver window", "source.peer_windows_bytes", [[65_023, 65_535]]),
        ("receiver window", "source.peer_windows_bytes", [[65_024, 70_000]]),
        ("receiver window", "source.peer_windows_bytes", [[]]),
        ("delay faults", "source.delays.unknown", 1),
        ("delay faults", "source.delays.refused", 1),
        ("delay faults", "source.delays", MISSING),
        ("server delays", "source.delay_off_ns", MISSING),
    ],
)
def test_what_a_web_trial_is_held_to(name: str, path: str, value: Any) -> None:
    assert all(judged_web(web()).values())
    broken = web()
    breaking(path, value)(broken)
    assert [n for n, ok in judged_web(broken).items() if not ok] == [name]


@pytest.mark.parametrize(
    ("hz", "tick_ns"), [(None, 10_000_000), ("250", 4_000_000), ("1000", 1_000_000)]
)
def test_a_server_s_wait_is_held_to_a_tick_of_its_kernel(hz: str | None, tick_ns: int) -> None:
    lab = web()
    lab["versions"] = {"kernel": "6.12.0"} | ({"hz": hz} if hz else {})
    for off_ns in (tick_ns - 1, 1 - tick_ns, tick_ns + 1, -tick_ns - 1):
        lab["source"]["delay_off_ns"] = off_ns
        assert judged_web(lab)["server delays"] == (abs(off_ns) < tick_ns)


def test_a_fact_of_another_type_fails_the_checks_that_go_by_it() -> None:
    broken = web()
    breaking("source.delays", "none")(broken)
    failed = [name for name, ok in judged_web(broken).items() if not ok]
    assert failed == ["round trips", "delay faults"]


def test_a_lan_is_held_to_its_own_round_trip() -> None:
    lab = good() | {"idle_round_trip_ns": [68_000.0], "expected_idle_round_trip_ns": 68_168.7}
    assert idle_round_trip(facts(lab), PLAN)["ok"]
    assert not idle_round_trip(facts(lab | {"idle_round_trip_ns": [70_000.0]}), PLAN)["ok"]


def test_a_port_faster_than_its_access_links_shows_no_rate() -> None:
    slow = made({"topology": {"access_rate_bit_per_s": 10_000_000}})
    assert link_rate(facts(good()), slow) is None


def test_one_per_cent_of_the_delay_is_seen_on_every_path_that_ping_can_resolve() -> None:
    for delay_ns in (100_000, 5_000_000, 275_000_000):
        right = 2.0 * delay_ns + 60_000
        lab = good() | {"expected_idle_round_trip_ns": right}
        for share in (-0.01, 0.01):
            wrong = lab | {"idle_round_trip_ns": [right + 2 * share * delay_ns]}
            assert not idle_round_trip(facts(wrong), PLAN)["ok"]
        assert idle_round_trip(facts(lab | {"idle_round_trip_ns": [right - 1000]}), PLAN)["ok"]


def test_what_was_not_recorded_fails_each_check_that_goes_by_it() -> None:
    """An old record may lack anything; no check is passed or left out for want of its facts."""
    empty = {"source": {}, "realtime": {"odd": 1}, "capture": {"odd": 1}}
    verdicts = checks_of(empty)
    assert [v["name"] for v in verdicts] == [v["name"] for v in checks_of(real())]
    assert not any(verdict["ok"] for verdict in verdicts)
    told = [verdict["why"] for verdict in verdicts if "why" in verdict]
    assert told and all("the record has no " in why for why in told)


def test_single_acknowledgements_tell_no_rate_where_the_clock_runs_on() -> None:
    """Stretches of 84 us, both ends a few us off, as a vm lab recorded them."""
    lab = good() | {"realtime": {"stall_p99_ns": 0}}
    lab["queue"]["up"]["wire"] = {"cells": 9_748, "busy_ns": 402_130_083, "stretches": 4_797}
    lab["queue"]["down"]["wire"] |= {"busy_ns": 9_422_222 * 99}
    found = link_rate(facts(lab), PLAN)
    assert found is not None and not found["ok"]
    assert found["measured"] == pytest.approx(45_000_000 / 0.99)
    del lab["realtime"]
    exact = link_rate(facts(lab), PLAN)
    assert exact is not None and exact["measured"] != found["measured"]


@pytest.mark.parametrize(
    ("rates", "ok"),
    [
        ({"down": 45e6, "up": 45.04e6}, True),
        ({"down": 45e6, "up": 45.05e6}, False),
        ({"down": 44.9e6, "up": 45e6}, False),
        ({"down": None, "up": 45e6}, False),
        (None, False),
    ],
)
def test_a_queue_that_does_not_watch_its_link_has_the_rate_probed(
    rates: dict[str, float | None] | None, ok: bool
) -> None:
    counters = {"sent": 40, "drops": 10, "qlen": 0, "marked": 0}
    lab = good() | {"queue": {"down": counters, "up": counters}}
    if rates is not None:
        lab["probed_rate_bit_per_s"] = rates
    codel = plans.to_json(QUEUES["codel"].Queue())
    plan = plans.from_json(made_plans.plan_json(WINDOW) | {"queue": {"down": codel, "up": codel}})
    found = {check["name"]: check["ok"] for check in checks_of(lab, plan)}
    assert found["link rate"] == ok
    assert all(verdict for name, verdict in found.items() if name != "link rate"), found
    assert "queue faults" not in found
