# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a trial: what must hold for its figures to mean anything. Pure.

Each takes the lab's raw record and the plan and says what was expected, what was measured
and how far apart the two may be. A trial with one failed check is invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = dict[str, Any]
CELL_BITS = 424
RATE_LIMIT = 1e-3
RTT_LIMIT_NS = 100_000
# A LAN's whole round trip is shorter than that; ping prints three or four digits.
RTT_LIMIT_SHARE = 0.02
# In virtual time a request is late only by the clock's own reading costs.
LATE_LIMIT_NS = 100_000
# Where the clock runs on while the lab computes; docs/labs.md has the measurements.
REAL_RTT_SHARE = 0.1
REAL_LATE_LIMIT_NS = 10_000_000
LATE_DEPARTURES_SHARE = 0.02
STALL_LIMIT_NS = 10_000_000
CLOCK_STEP_LIMIT_NS = 1_000_000


def check(name: str, measured: Any, expected: Any, limit: float, unit: str) -> Check:
    """One verdict: |measured - expected| <= limit; a missing measurement fails."""
    ok = measured is not None and abs(measured - expected) <= limit
    return {
        "name": name,
        "ok": ok,
        "measured": measured,
        "expected": expected,
        "limit": limit,
        "unit": unit,
    }


def link_rate(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Cells sent over the time the server was busy, against the middle link's rate."""
    queue = lab["queue"]["down"]
    busy_s = queue["busy_ns"] / 1e9
    rate = queue["cells_sent"] * CELL_BITS / busy_s if busy_s else None
    expected = plan["topology"]["rate_bit_per_s"]
    return check("link rate", rate, expected, expected * RATE_LIMIT, "bit/s")


def idle_round_trip(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Pings over the idle path, against propagation and serialisation."""
    times = lab["idle_round_trip_ns"]
    expected = lab["expected_idle_round_trip_ns"]
    worst = max(times, key=lambda t: abs(t - expected)) if times else None
    limit = min(RTT_LIMIT_NS, RTT_LIMIT_SHARE * expected)
    if lab.get("realtime"):
        # The typical one: a single ping tells of its own bad luck only.
        worst = sorted(times)[len(times) // 2] if times else None
        limit = max(RTT_LIMIT_NS, REAL_RTT_SHARE * expected)
    return check("idle round trip", worst, expected, limit, "ns")


def queue_faults(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """What the queue programs could not judge exactly: unmarked, late, out of step."""
    faults = sum(queue["faults_total"] for queue in lab["queue"].values())
    return check("queue faults", faults, 0, 0, "frames")


def conservation(direction: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Check]:
    """Packets into a port = packets out + dropped by cause + still queued.

    Counted by the kernel's interface counters on one side and the queue's own on the other:
    what the hosts sent, what the queue judged, what left, what the other side's hosts got.
    """
    hosts, port, far_port, far_hosts = {
        "down": ("sw2-s", "sw2-sat", "sw1-sat", "sw1-c"),
        "up": ("sw1-c", "sw1-sat", "sw2-sat", "sw2-s"),
    }[direction]

    def judge(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
        links, queue = lab["links"], lab["queue"][direction]
        frames = queue["frames"]
        sent = sum(c[0] for name, c in links.items() if name.startswith(hosts) and name != port)
        got = sum(
            c[1] for name, c in links.items() if name.startswith(far_hosts) and name != far_port
        )
        dropped = frames["in"] - frames["delivered"]
        waiting = queue["frames_announced"] - queue["frames_resolved"]
        missing = [
            sent - queue["frames_announced"],
            frames["in"] + waiting - queue["frames_announced"],
            sent - dropped - waiting - links[port][1],
            links[port][1] - links[far_port][0],
            links[far_port][0] - got,
        ]
        return check(f"conservation {direction}", max(map(abs, missing)), 0, 0, "packets")

    return judge


def foreign_drops(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Drops and errors anywhere but in the queues under test."""
    drops = sum(lab["qdiscs"].values()) + sum(counters[2] for counters in lab["links"].values())
    # A packet that the queue's clsact hook refuses is counted as dropped by its device too.
    refused = sum(
        queue["frames"]["in"] - queue["frames"]["delivered"] for queue in lab["queue"].values()
    )
    return check("drops elsewhere", max(0, drops - refused), 0, 0, "packets")


def requests(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Requests offered against those answered, outstanding or unsent at the end."""
    source = lab["source"]
    if source["offered"] is None:
        return check("requests", source.get("bad_status", 0), 0, 0, "requests")
    unexplained = abs(source["offered"] - source["accounted"]) + source["bad_status"]
    return check("requests", unexplained, 0, 0, "requests")


def server_errors(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Lines in the servers' error logs."""
    said = lab["source"].get("server_complaints", [])
    return check("server errors", len(said), 0, 0, "lines")


def receiver_window(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """The window each sender was last told, where the source knows it, against the plan's.

    A receiver rounds what it has left down to whole segments.
    """
    wanted = plan["tcp"]["window_bytes"]
    windows = lab["source"].get("peer_window_bytes", [wanted])
    worst = max(windows, key=lambda w: abs(w - wanted), default=None)
    limit = plan["topology"]["mss_bytes"] - 1
    return check("receiver window", worst, wanted, limit, "bytes")


def lateness(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """The latest request against its due time."""
    late = lab["source"]["max_late_ns"]
    limit = REAL_LATE_LIMIT_NS if lab.get("realtime") else LATE_LIMIT_NS
    return check("late requests", 0 if late is None else late, 0, limit, "ns")


def late_departures(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Frames whose departure time was past when the queue gave it, as a share of all."""
    queues = lab["queue"].values()
    frames = sum(queue["frames"]["in"] for queue in queues)
    late = sum(queue["frames_late"] for queue in queues)
    share = late / max(1, frames)
    return check("late departures", share, 0, LATE_DEPARTURES_SHARE, "of the frames")


def stalls(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """How late a sleeping thread woke: the 99th percentile over the trial."""
    return check("stalls", lab["realtime"]["stall_p99_ns"], 0, STALL_LIMIT_NS, "ns")


def backlog_drops(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Packets that found a processor's receive backlog full."""
    return check("backlog drops", lab["realtime"]["backlog_drops"], 0, 0, "packets")


def clock_step(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """How far the wall clock was set during the trial."""
    return check("clock step", lab["realtime"]["clock_step_ns"], 0, CLOCK_STEP_LIMIT_NS, "ns")


def capture(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> Check:
    """Packets of a captured port that are not in its file, by the interface's own counters."""
    devices = {"down": "sw2-sat", "up": "sw1-sat"}
    missing = [
        sum(lab["links"][devices[port]][:2]) - counts["packets"]
        for port, counts in lab["capture"]["ports"].items()
    ]
    return check("capture", max(missing, key=abs), 0, 0, "packets")


CHECKS = (
    link_rate,
    idle_round_trip,
    queue_faults,
    conservation("down"),
    conservation("up"),
    foreign_drops,
    requests,
    server_errors,
    receiver_window,
    lateness,
)


# In the uml lab's virtual time nothing can be late, and there is nothing to judge.
REALTIME_CHECKS = (late_departures, stalls, backlog_drops, clock_step)


def judge(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> list[Check]:
    """All checks of a trial, in a fixed order."""
    more = REALTIME_CHECKS if lab.get("realtime") else ()
    captures = (capture,) if lab.get("capture") else ()
    return [one(lab, plan) for one in (*CHECKS, *more, *captures)]
