# SPDX-License-Identifier: GPL-2.0-only
"""A trial's plan in the words of web.tcl."""

from collections.abc import Mapping, Sequence

from plan.atm import TCP_IP_HEADER_BYTES
from plan.flavor import SYSCTLS
from plan.plan import Plan
from studies.web_2003.ns2 import traffic
from studies.web_2003.ns2.traffic import Connection

Options = Mapping[str, str | int | float]
MOST_RTO_S = 120
"""Linux's TCP_RTO_MAX; ns-2 has 60."""
SYN_RTO_S = 1.0
"""Linux's TCP_TIMEOUT_INIT (RFC 6298, section 2.1)."""
LINKS: Mapping[str, str] = {"pfifo": "DropTail", "red_ns2": "RED"}
"""Disciplines of the lab that ns-2 has as well, by its names. Linux's own RED it has not."""
VARIANTS: Mapping[str, Options] = {
    "as the plan": {},
    # ns-2 has one value for a SYN's first timeout and for data's without a sample.
    "first timeout 3 s": {"rto_first": 3.0, "rto_data": 3.0},
    "first timeout 6 s": {"rto_first": 6.0, "rto_data": 6.0},
    "ticks of 10 ms": {"tick": 0.01},
    "timeout 1 s at least": {"rto_min": 1.0},
    "delayed ACKs": {"ack_each": 0},
    "Nagle": {"nodelay": 0},
    "window of 20": {"segments": 20},
    "plain packets": {"header": TCP_IP_HEADER_BYTES},
    "bytes": {"count_bytes": 1},
    "mean packet of 500": {"mean": 500},
    "not gentle": {"gentle": 0},
    "no wait": {"wait": 0},
}
"""Options other than the plan's: what ns-2 2.35 or the ns-2 of 2003 had as a default, or has."""


def link(plan: Plan) -> str | None:
    """ns-2's name of the plan's queue; None where it has no such queue."""
    return LINKS.get(getattr(plan.queue.down, "kind", ""))


def options(plan: Plan, trace: Sequence[Connection], variant: str) -> Options:
    """What web.tcl is given for a plan and its trace; of a queue that ns-2 has."""
    mss_bytes = plan.topology.mss_bytes
    header = int(VARIANTS[variant].get("header", traffic.header_bytes(mss_bytes)))
    return {
        "rate": traffic.rate_bit_per_s(trace, plan.topology.rate_bit_per_s, mss_bytes, header),
        "header": header,
        "mss": mss_bytes,
        "seed": plan.seed,
        "queue": link(plan) or "",
        **_queue(vars(plan.queue.down)),
        **_sender(plan),
        **VARIANTS[variant],
    }


def _queue(queue: Mapping[str, object]) -> Options:
    """Of drop tail the limit only."""
    return {
        "limit": int(str(queue["limit_packets"])),
        "ecn": int(queue.get("ecn") is True),
        "gentle": int(queue.get("gentle") is True),
        "count_bytes": int(queue.get("count") == "bytes"),
    }


def _sender(plan: Plan) -> Options:
    flavor, window = plan.tcp.flavor, plan.tcp.window_bytes
    again = int(flavor.sysctl.get("tcp_syn_retries", SYSCTLS["tcp_syn_retries"].default))
    tick_s = flavor.parameters["rto_tick_ms"] / 1000
    return {
        "sender": "SACK" if flavor.sysctl["tcp_sack"] else "Reno",
        "segments": window // plan.topology.mss_bytes,
        "first_window": int(flavor.route["server"]["initcwnd"]),
        "tick": tick_s,
        "rto_min": flavor.parameters["rto_min_ticks"] * tick_s,
        "rto_first": SYN_RTO_S,
        "rto_data": flavor.parameters["rto_first_ms"] / 1000,
        "rto_most": MOST_RTO_S,
        # The SYN goes again after 1, 2, 4 s and so on; the client waits as long once more.
        "give_up": SYN_RTO_S * (2 ** (again + 1) - 1),
    }
