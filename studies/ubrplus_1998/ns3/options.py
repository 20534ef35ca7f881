# SPDX-License-Identifier: GPL-2.0-only
"""A trial's plan in the words of dumbbell.cc."""

from collections.abc import Iterator, Mapping

from plan.plan import Plan
from studies.ubrplus_1998.model.server import nginx_header_bytes
from topology.queues import cells
from workload import www
from workload.www.schedule import Request, schedule

Options = Mapping[str, str | int | float]
SENDERS = {"newreno": 0, "sack": 1}
"""Flavors that ns-3 has, and whether they use SACK. Its recovery is never Reno's."""
US_PER_S = 1_000_000
PPM = 1_000_000


def has(plan: Plan) -> bool:
    """Has ns-3 the plan's sender?"""
    return plan.tcp.flavor.name in SENDERS


def options(plan: Plan) -> Options:
    """What dumbbell.cc is given for a plan."""
    topology = plan.topology
    return {
        "pairs": topology.pairs,
        "rate": topology.rate_bit_per_s,
        "delay_s": topology.delay_ns / 1e9,
        "access_rate": topology.access_rate_bit_per_s,
        "access_delay_s": topology.access_delay_ns / 1e9,
        "duration_s": plan.workload.duration_s,
        **_queue(plan),
        **_sender(plan),
    }


def _queue(plan: Plan) -> Options:
    queue = plan.queue.down
    assert isinstance(queue, cells.Queue)
    room = queue.room_cells
    return {
        "policy": queue.policy,
        "room": room,
        "threshold": room * (queue.threshold_ppm or 0) / PPM,
        "z": (queue.z_ppm or 0) / PPM,
    }


def _sender(plan: Plan) -> Options:
    flavor = plan.tcp.flavor
    tick_s = flavor.parameters["rto_tick_ms"] / 1000
    return {
        "sack": SENDERS[flavor.name],
        "mss": plan.topology.mss_bytes,
        "first_window": int(flavor.route["server"]["initcwnd"]),
        "ssthresh": plan.tcp.ssthresh_segments * plan.topology.mss_bytes,
        "window": plan.tcp.window_bytes,
        "tick_s": tick_s,
        "rto_min_s": flavor.parameters["rto_min_ticks"] * tick_s,
    }


def requests(plan: Plan) -> tuple[Request, ...]:
    """The same that the kernel's clients make."""
    assert isinstance(plan.workload, www.Parameters)
    return schedule(plan.workload, plan.seed, plan.topology.pairs)


def lines(plan: Plan) -> Iterator[str]:
    """The schedule as dumbbell.cc reads it."""
    assert isinstance(plan.workload, www.Parameters)
    yield f"{plan.workload.request_bytes}\n"
    for one in requests(plan):
        header = nginx_header_bytes(one.size_bytes)
        yield f"{one.pair} {one.due_ns} {header} {one.size_bytes}\n"
