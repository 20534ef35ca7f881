# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_flavor_socket.py: what a process does to one connection.

Usage: socket_in_lab.py JOB.json RESULT.json. JOB: {"link": Link, "cases": [CASE, ...]}.
CASE: {"flavor": Flavor.as_dict(), "segments": written at once, "drops": {"segment":
[sendings]}, "at_ns": when (null: 1 s after all is acknowledged), "act": "fin", "reno",
"pace", "own" or "none", "more": segments written after it}.

RESULT: for each case {"before": Window, "after": Window, "seen_ns": act "fin": from the act
to the end of the receiver's stream, "acted_ns": begin and end of the act, since the
start, "finished": all was acknowledged within LIMIT_NS,
"again_ns": when each segment was sent again, since the start}, or {"error": one line}.
Window: {"cwnd": tcp_info's, "bytes", "unit", "mss": of TCP_CC_INFO, or null}.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, "/cellbed")

from harness.agent import module  # noqa: E402
from harness.exact_loss import lab as loss  # noqa: E402
from harness.exact_loss.job import Connection, Link  # noqa: E402
from harness.exact_loss.maps import LossMaps  # noqa: E402
from harness.exact_loss.network import Network  # noqa: E402
from plan import plan  # noqa: E402
from tests.flavors.answering import answer  # noqa: E402

SO_MAX_PACING_RATE = 47
# The kernel calls it for a congestion control that it has not, and waits for its end.
MODPROBE = Path("/proc/sys/kernel/modprobe")
OWNED_S = 3
PAYLOAD = 1000
LIMIT_NS = 20_000_000_000
STEP_S = 0.001


def window(sender: socket.socket) -> dict[str, Any]:
    info = loss.tcp_info(sender)
    return {"cwnd": info["cwnd"], **(loss.window(sender) or {"bytes": None})}


def wait(sender: socket.socket, until_ns: int | None, receiver: socket.socket) -> bool:
    """Until a moment, or until all is acknowledged; False when that takes too long."""
    end_ns = until_ns or time.monotonic_ns() + LIMIT_NS
    while time.monotonic_ns() < end_ns:
        loss.read(receiver)
        if until_ns is None and loss.unacknowledged(sender) == 0:
            return True
        time.sleep(STEP_S)
    return until_ns is not None


def act(sender: socket.socket, what: str) -> None:
    if what == "fin":
        sender.shutdown(socket.SHUT_WR)
    elif what == "reno":
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    elif what == "pace":
        sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1_000_000_000)
    elif what == "own":
        own(sender)


def own(sender: socket.socket) -> None:
    """Own a socket for OWNED_S, in a call that sleeps: that for a congestion control unknown."""
    script = Path("/tmp/modprobe")
    script.write_text(f"#!/bin/sh\nexec sleep {OWNED_S}\n")
    script.chmod(0o755)
    MODPROBE.write_text(str(script))
    with suppress(FileNotFoundError):
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"unknown")


def end_of_stream(receiver: socket.socket, begin_ns: int) -> int | None:
    """Nanoseconds until the receiver reads the end; None when not within LIMIT_NS."""
    while (left := begin_ns + LIMIT_NS - time.monotonic_ns()) > 0:
        if select.select([receiver], [], [], left / 1e9)[0] and not receiver.recv(1 << 20):
            return time.monotonic_ns() - begin_ns
    return None


def case(network: Network, maps: LossMaps, wanted: dict[str, Any]) -> dict[str, Any]:
    flavor = plan.part(plan.Flavor, wanted["flavor"])
    loss.set_flavor(network, flavor)
    loss.set_routes(network, Connection(id="", flavor=flavor, writes=(), initcwnd=1, ssthresh=60))
    drops = {int(segment): sendings for segment, sendings in wanted["drops"].items()}
    maps.arm(port=loss.PORT, payload=PAYLOAD, drops=drops)
    sender, receiver = loss.open_pair(network)
    begin_ns = time.monotonic_ns()
    sender.send(bytes(wanted["segments"] * PAYLOAD))
    if wanted["at_ns"] is None:
        wait(sender, None, receiver)
        time.sleep(1.0)
    else:
        wait(sender, begin_ns + wanted["at_ns"], receiver)
    result: dict[str, Any] = {"before": window(sender)}
    acted_ns = time.monotonic_ns()
    act(sender, wanted["act"])
    result["acted_ns"] = [acted_ns - begin_ns, time.monotonic_ns() - begin_ns]
    result["after"] = window(sender)
    if wanted["act"] == "fin":
        result["seen_ns"] = end_of_stream(receiver, acted_ns)
    elif wanted["more"]:
        sender.send(bytes(wanted["more"] * PAYLOAD))
    result["finished"] = wait(sender, None, receiver)
    loss.close_pair(sender, receiver)
    result["again_ns"] = [e.time_ns - begin_ns for e in maps.read() if e.data and e.sending]
    return result


def run(job: dict[str, Any]) -> list[dict[str, Any]]:
    module.load("cellbed_tcp")
    network = Network(Link(**job["link"]), loss.PROGRAMS / "loss.bpf.o")
    maps = LossMaps()
    results = [case(network, maps, wanted) for wanted in job["cases"]]
    loss.refuse_kernel_warnings()
    return results


if __name__ == "__main__":
    answer(run)
