# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: a trace's connections, each with its own round trip, over the dumbbell.

Usage: lab_delays.py OUT_DIRECTORY REPEATS

OUT_DIRECTORY/trace is the trace. Leaves for repeat n: n.DIRECTION.HOST.csv of the clients,
n.HOST.csv of the servers, n.delays; and at the end HOST.netstat, and in `killed` how a connection
ended that no program delays any more.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from plan.dumbbell import Dumbbell
from plan.layout import Host, Link
from topology.build import Network
from topology.delays.connection import program, table
from topology.run import batch, in_namespace
from workload.packmime import carriers, trace
from workload.packmime.source import start_ns

PROGRAMS = Path("/opt/cellbed")
PAIRS = 2
NS_PER_S = 1_000_000_000


def dumbbell() -> Dumbbell:
    access = Link(rate_bit_per_s=149_760_000, delay_ns=5_000)
    return Dumbbell(
        pairs=PAIRS,
        access=access,
        middle=Link(rate_bit_per_s=10_000_000, delay_ns=0),
        mss_bytes=1460,
    )


def start(pid: int, argv: list[str]) -> subprocess.Popen[str]:
    with in_namespace(pid):
        return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def started(pid: int, argv: list[str]) -> subprocess.Popen[str]:
    """A program that says when it is ready."""
    process = start(pid, argv)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", line
    return process


def ended(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 0, said
    return said


def clients_of(network: Dumbbell, direction: str) -> list[Host]:
    return network.clients() if direction == "down" else network.servers()


def entries(path: Path, network: Dumbbell) -> list[table.Entry]:
    """The trace's round trips, but that of the second connection up."""
    ends = list(trace.ends(path, PAIRS))
    up = [end for end in ends if end.direction == "up"]
    return [
        table.Entry(
            clients_of(network, end.direction)[end.host].ip,
            end.client_port,
            end.server_port,
            end.round_trip_ns,
        )
        for end in ends
        if end is not up[1]
    ]


def repeat(built: Network, out: Path, number: int) -> None:
    """One trial: delays, a server and a client on every host, their ends."""
    delays = started(built.pids["sat"], program.argv(out / "table"))
    servers = [
        started(
            built.pids[host.name],
            carriers.server_argv(
                PROGRAMS / "packmime_server", host.ip, out / f"{number}.{host.name}.csv"
            ),
        )
        for host in built.layout.hosts()
    ]
    t0_ns = start_ns(time.monotonic_ns())
    clients = []
    for direction in trace.DIRECTIONS:
        for index, host in enumerate(clients_of(built.layout, direction)):
            side = carriers.Side(
                direction=direction, hosts=PAIRS, host=index, address=host.ip, server=host.peer_ip
            )
            argv = carriers.client_argv(
                PROGRAMS / "packmime_client", out / "trace", side,
                t0_ns=t0_ns, duration_ns=60 * NS_PER_S,
                out=out / f"{number}.{direction}.{index}.csv",
            )  # fmt: skip
            clients.append(start(built.pids[host.name], argv))
    for client in clients:
        said = client.communicate()[0]
        assert client.returncode == 0, said
    for server in servers:
        ended(server)
    (out / f"{number}.delays").write_text(ended(delays))


def after_a_kill(built: Network, out: Path) -> str:
    """How a connection ends that is not in the table when the program has been killed."""
    delays = started(built.pids["sat"], program.argv(out / "table"))
    delays.kill()
    delays.wait()
    host = built.layout.clients()[0]
    with in_namespace(built.pids[host.name]), socket.socket() as end:
        end.settimeout(5)
        try:
            end.connect((host.peer_ip, 9))
        except OSError as error:
            return type(error).__name__
    return "connected"


def main(out: Path, repeats: int) -> None:
    network = dumbbell()
    built = Network(network)
    built.build()
    with in_namespace(built.pids["sat"]):
        batch("tc", program.queues())
    table.write(out / "table", entries(out / "trace", network))
    for number in range(repeats):
        repeat(built, out, number)
    for host in network.hosts():
        with in_namespace(built.pids[host.name]):
            (out / f"{host.name}.netstat").write_text(Path("/proc/net/netstat").read_text())
    (out / "killed").write_text(after_a_kill(built, out))
    built.stop()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
