# SPDX-License-Identifier: GPL-2.0-only
"""Runs web traffic in a lab: a server and a client on every host.

The record's exchanges.csv has a row for each request and its response.
"""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from plan.atm import TCP_IP_HEADER_BYTES
from workload import ready, source
from workload.checks import late_requests
from workload.packmime import carriers, exchanges, trace
from workload.packmime.checks import handshakes, receiver_window, requests, server_delays
from workload.packmime.parameters import Parameters
from workload.source import Host, Programs

SERVER, CLIENT = Path("/opt/cellbed/packmime_server"), Path("/opt/cellbed/packmime_client")
NS_PER_S = 1_000_000_000
# Time for the clients to read the trace, in a lab where reading takes time.
LEAD_NS = 5 * NS_PER_S
# The trace begins at a fixed moment of the trial, however long the clients read. The trial begins
# at a moment where the kernel rounds long timers alike (topology/clock.py).
START_GRAIN_NS = 16 * NS_PER_S
OTHER = {"down": "up", "up": "down"}
IPV4 = Path("/proc/sys/net/ipv4")
# The time that a connection's first packet spends in the box, and the time of its answer [ns].
# Passages gets the client's address, its port and the server's port.
Passage = tuple[int | None, int | None]
Passages = Callable[[str, int, int], Passage]


class Source(source.Source):
    """Every host runs a server, and a client for the connections that it begins."""

    files = ("exchanges.csv",)
    checks = (requests, receiver_window, late_requests, handshakes, server_delays)

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        testbed = self.testbed
        params = self.parameters.traffic(
            testbed.rate_bit_per_s, testbed.mss_bytes, testbed.access.framing
        )
        path = trace.place(testbed.shared, params, testbed.seed)
        with (
            testbed.delay.round_trips(testbed, self._ends(path)) as delays,
            testbed.delay.seen_round_trips(testbed) as passages,
            testbed.programs() as programs,
        ):
            servers = self._serve(programs)
            t0_ns = start_ns(testbed.whole_second())
            said = self._follow(self._begin(programs, path, t0_ns), t0_ns, progress)
            for server in servers:
                server.send_signal(signal.SIGTERM)
                carriers.summary(server.communicate()[0])
        totals = self._write(path)
        self._summary = {
            "t0_ns": t0_ns,
            "trace": described(path),
            "delays": dict(delays),
            "round_trips": round_trips(self._ends(path), passages.of),
            "most_open": max(one["most_open"] for one in said),
            "max_late_ns": max(one["max_late_ns"] for one in said),
            "expected_handshake_excess_ns": testbed.idle_round_trip_ns(self._syn_bytes()),
            "offered": sum(one["exchanges"] for one in said),
            **summarise(totals, len(testbed.clients)),
        }

    def _hosts(self, direction: str) -> Sequence[Host]:
        """Return the hosts that begin connections whose responses flow in this direction."""
        return self.testbed.clients if direction == "down" else self.testbed.servers

    def _syn_bytes(self) -> int:
        """Return the size of a SYN, and of its answer, by the settings of the first client."""
        with self.testbed.inside(self.testbed.client_pid(1)):
            return syn_bytes(lambda name: int((IPV4 / name).read_text()))

    def _pid(self, direction: str, pair: int) -> int:
        pid_of = self.testbed.client_pid if direction == "down" else self.testbed.server_pid
        return pid_of(pair)

    def _ends(self, path: Path) -> Iterator[tuple[str, int, int, int]]:
        """Yield each connection's end and round trip."""
        hosts = {direction: self._hosts(direction) for direction in trace.DIRECTIONS}
        for end in trace.ends(path, len(self.testbed.clients)):
            address = hosts[end.direction][end.host].ip
            yield address, end.client_port, end.server_port, end.round_trip_ns

    def _serve(self, programs: Programs) -> list[Any]:
        """Start all servers and wait until they listen."""
        servers = []
        for direction in trace.DIRECTIONS:
            for host in self._hosts(direction):
                argv = carriers.server_argv(SERVER, host.ip, self._table("server", direction, host))
                servers.append(programs.start(self._pid(direction, host.pair), argv))
        for server in servers:
            ready.await_line(server, "packmime_server")
        return servers

    def _begin(self, programs: Programs, path: Path, t0_ns: int) -> list[Any]:
        """Start all clients."""
        clients = []
        for direction in trace.DIRECTIONS:
            hosts = self._hosts(direction)
            for index, host in enumerate(hosts):
                side = carriers.Side(
                    direction=direction,
                    hosts=len(hosts),
                    host=index,
                    address=host.ip,
                    server=host.peer_ip,
                )
                argv = carriers.client_argv(
                    CLIENT, path, side, t0_ns=t0_ns,
                    duration_ns=round(self.parameters.duration_s * NS_PER_S),
                    out=self._table("client", direction, host),
                )  # fmt: skip
                clients.append(programs.start(self._pid(direction, host.pair), argv))
        return clients

    def _follow(
        self, clients: list[Any], t0_ns: int, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Wait for the clients, second by second; return their last lines."""
        with ThreadPoolExecutor(len(clients)) as readers:
            outputs = [readers.submit(client.communicate) for client in clients]
            second = 0
            while not all(output.done() for output in outputs):
                second += 1
                self.testbed.sleep_until(t0_ns + second * NS_PER_S)
                self.testbed.sample_tcp(second)
                progress(second)
        return [carriers.summary(output.result()[0]) for output in outputs]

    def _write(self, path: Path) -> exchanges.Totals:
        """Write exchanges.csv and flows.csv; remove the programs' own tables."""
        totals = exchanges.write(
            self.testbed.folder / "exchanges.csv",
            trace.read(path),
            lambda direction: [
                carriers.read_exchanges(self._table("client", direction, host))
                for host in self._hosts(direction)
            ],
            lambda direction: [
                carriers.read_server(self._table("server", OTHER[direction], host))
                for host in self._hosts(OTHER[direction])
            ],
        )
        self.write_flows(
            {
                "pair": host.pair,
                "received_bytes": totals.received_bytes[index],
                "scheduled_bytes": totals.scheduled_bytes[index],
                "requests": totals.asked[index],
                "answered": totals.done[index],
                "retransmits": totals.retransmits[index],
                "timeouts": totals.timeouts[index],
            }
            for index, host in enumerate(self.testbed.clients)
        )
        for direction in trace.DIRECTIONS:
            for program in ("client", "server"):
                for host in self._hosts(direction):
                    self._table(program, direction, host).unlink()
        return totals

    def _table(self, program: str, direction: str, host: Host) -> Path:
        """Return the file of a program's table; `direction` tells the host's side."""
        return self.testbed.folder / f"{program}.{direction}.{host.pair}.csv"

    def summary(self) -> dict[str, Any]:
        return self._summary


def syn_bytes(sysctl: Callable[[str], int]) -> int:
    """Return the IP bytes of a SYN as Linux sends it (tcp_syn_options() of net/ipv4/tcp_output.c).

    Its options are the MSS, then timestamps, window scaling and permission of SACK. The permission
    takes the place of the timestamps' padding.
    """
    timestamps, scaling, sack = (
        bool(sysctl(f"tcp_{name}")) for name in ("timestamps", "window_scaling", "sack")
    )
    options = 4 + 12 * timestamps + 4 * scaling + 4 * (sack and not timestamps)
    return TCP_IP_HEADER_BYTES + options


def start_ns(now_ns: int) -> int:
    """Return the start of the trace: the first multiple of 16 s after the lead."""
    return -(-(now_ns + LEAD_NS) // START_GRAIN_NS) * START_GRAIN_NS


def described(path: Path) -> dict[str, Any]:
    """Return a description of a trace: the hash of its content, and the load that it offers."""
    header = trace.read_header(path)
    return {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "duration_s": header.duration_ns / NS_PER_S,
        "connections": header.connections,
        "offered_percent": header.offered_percent,
    }


def round_trips(
    ends: Iterator[tuple[str, int, int, int]], passages: Passages
) -> dict[str, int | None]:
    """Return the number of connections that passed the box both ways, and the largest difference.

    farthest_ns: the largest difference of all SYNs and answers from half of the round trip; None:
    no connection passed.
    """
    differences = []
    for address, client_port, server_port, round_trip_ns in ends:
        there, back = passages(address, client_port, server_port)
        if there is not None and back is not None:
            wanted = round_trip_ns // 2
            both = (there - wanted, back - (round_trip_ns - wanted))
            differences.append(max(both, key=abs))
    return {"passed": len(differences), "farthest_ns": max(differences, key=abs, default=None)}


def summarise(totals: exchanges.Totals, hosts: int) -> dict[str, Any]:
    """Return the values that the checks need."""
    begun = [state for state in carriers.STATES if state not in ("not_begun", "done")]
    return {
        "answered": totals.states["done"],
        "outstanding": sum(totals.states[state] for state in begun) + totals.unreached,
        "unsent": totals.unsent,
        "bad_status": sum(totals.states[state] for state in exchanges.FAULTS),
        "unlike_connections": [totals.unlike[host] for host in range(hosts)],
        "states": {
            state: totals.states[state] for state in carriers.STATES if totals.states[state]
        },
        "connected": totals.connected,
        "ecn_share": totals.with_ecn / totals.served if totals.served else None,
        "handshake_excess_ns": totals.handshake_excess_ns,
        "answer_excess_ns": totals.answer_excess_ns,
        "delay_off_ns": totals.delay_off_ns,
        "peer_windows_bytes": [[*totals.windows.get(host, ())] for host in range(hosts)],
        "measured_s": totals.last_byte_ns / NS_PER_S,
    }
