# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: a whole trace over the dumbbell, and what the link carried of it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, "tests/topology")
import lab_delays
from lab_delays import LEAD_NS, NS_PER_S, PROGRAMS, clients_of, ended, start, started

from topology import commands
from topology.build import Network
from topology.delays.connection import program, table
from topology.run import batch, in_namespace, run
from workload.packmime import carriers, trace

OUT = Path("/run/cellbed")
PAIRS = 4
GRACE_NS = 60 * NS_PER_S
PORTS = {"down": commands.DOWN_PORT, "up": commands.UP_PORT}


def shape() -> None:
    for port in PORTS.values():
        tbf = ["tbf", "rate", "10mbit", "burst", "1600", "limit", "100000000"]
        run(["tc", "qdisc", "replace", "dev", port, "root", *tbf])


def no_timestamps(built: Network) -> None:
    """As in the flavors of the time: their 12 bytes a packet are not in what is offered."""
    for host in built.layout.hosts():
        with in_namespace(built.pids[host.name]):
            Path("/proc/sys/net/ipv4/tcp_timestamps").write_text("0")


def clients(built: Network, header: trace.Header) -> list[str]:
    """Run all clients; what they said."""
    t0_ns = (time.monotonic_ns() + 5 * LEAD_NS) // NS_PER_S * NS_PER_S
    processes = []
    for direction in trace.DIRECTIONS:
        for index, host in enumerate(clients_of(built.layout, direction)):
            side = carriers.Side(
                direction=direction, hosts=PAIRS, host=index, address=host.ip, server=host.peer_ip
            )
            argv = carriers.client_argv(
                PROGRAMS / "packmime_client", OUT / "trace", side,
                t0_ns=t0_ns, duration_ns=header.duration_ns + GRACE_NS,
                out=OUT / f"{direction}.{index}.csv",
            )  # fmt: skip
            processes.append(start(built.pids[host.name], argv))
    return [process.communicate()[0] for process in processes]


def main() -> None:
    lab_delays.PAIRS = PAIRS
    network = lab_delays.dumbbell()
    built = Network(network)
    built.build()
    shape()
    no_timestamps(built)
    with in_namespace(built.pids["sat"]):
        batch("tc", program.queues())
    ends = trace.ends(OUT / "trace", PAIRS)
    hosts = {direction: clients_of(network, direction) for direction in trace.DIRECTIONS}
    table.write(
        OUT / "table",
        (
            table.Entry(
                hosts[e.direction][e.host].ip, e.client_port, e.server_port, e.round_trip_ns
            )
            for e in ends
        ),
    )
    delays = started(built.pids["sat"], program.argv(OUT / "table"))
    servers = []
    for host in network.hosts():
        argv = carriers.server_argv(PROGRAMS / "packmime_server", host.ip, OUT / f"{host.name}.csv")
        servers.append(started(built.pids[host.name], argv))
    header = trace.read_header(OUT / "trace")
    said = [carriers.summary(text) for text in clients(built, header)]
    for server in servers:
        ended(server)
    print(program.read(ended(delays)))
    print("done", sum(one["states"]["done"] for one in said), "of", header.exchanges)
    print("most open at a client", max(one["most_open"] for one in said))
    for direction, port in PORTS.items():
        shown = json.loads(run(["tc", "-s", "-j", "qdisc", "show", "dev", port]))[0]
        percent = shown["bytes"] * 8e11 / header.duration_ns / 10_000_000
        print(f"{direction}: {shown['bytes']} bytes, {percent:.3f} %, {shown['drops']} lost")
    built.stop()


if __name__ == "__main__":
    main()
