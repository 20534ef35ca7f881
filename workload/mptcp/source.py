# SPDX-License-Identifier: GPL-2.0-only
"""Runs sources over one or several paths in a lab.

Each client connects to its server, and the server sends. A client with two addresses connects from
its first address; the kernel's path manager opens a subflow from the second address. The
measurements come from the kernel: the payload of each subflow, and that of the connection.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from subprocess import Popen
from typing import Any

from workload import source
from workload.mptcp import info, tables
from workload.mptcp.checks import (
    connection_bytes,
    left_links,
    mptcp_fallback,
    receiver_window,
    subflow_bytes,
    subflows,
)
from workload.mptcp.parameters import Parameters
from workload.mptcp.tables import Connection, Mark
from workload.mptcp.tables import Path as OnPath
from workload.ready import told
from workload.source import NS_PER_S, Programs
from workload.streams import stream

NOTSENT = Path("/proc/sys/net/ipv4/tcp_notsent_lowat")
UNLIMITED = 0xFFFF_FFFF
BEGIN, LEAVE, END, LAST = "begin", "leave", "end", "last"


class Source(source.Source):
    """Data flows from each server to its client, over all paths of the client."""

    files = (tables.FILE,)
    checks = (
        subflows,
        left_links,
        mptcp_fallback,
        connection_bytes,
        subflow_bytes,
        receiver_window,
    )
    responses = tables.RESPONSES

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        testbed = self.testbed
        connections = [
            Connection(kind=kind, pairs=pairs)
            for kind, several in testbed.bundles.items()
            for pairs in several
        ]
        before = self._counters(connections)
        with ExitStack() as until_end:
            until_end.enter_context(self._unsent_limited())
            until_end.enter_context(testbed.several_paths())
            programs = until_end.enter_context(testbed.programs())
            own = [until_end.enter_context(self._socket(one)) for one in connections]
            t0_ns, senders, marks, read = self._measure(connections, own, programs, progress)
            marks[LAST] = self._read(connections, own)
            for at in (END, LAST):
                marks[at] = tables.with_left(marks[at], marks.get(LEAVE))
            after = self._counters(connections)
            for one in own:
                one.close()
            sent = [json.loads(told(sender, "a sender")) for sender in senders]
        self.write_flows(tables.flows(connections, marks[BEGIN], marks[END]))
        counters = [tables.less(*both) for both in zip(after, before, strict=True)]
        facts = tables.facts(connections, marks, read, sent, counters)
        tables.write(self.testbed.folder, facts)
        self._summary = {
            "t0_ns": t0_ns,
            "measured_s": tables.mean_s(marks[BEGIN], marks[END]),
            "connections": facts,
            "peer_window_bytes": tables.windows(connections, marks[END]),
            "figures": tables.figures(facts, tables.mean_s(marks[BEGIN], marks[END])),
        }

    def _measure(
        self,
        connections: Sequence[Connection],
        own: Sequence[socket.socket],
        programs: Programs,
        progress: Callable[[int], None],
    ) -> tuple[int, list[Popen[str]], dict[str, Sequence[Mark]], list[dict[str, int]]]:
        """Return time 0, the senders, the marks, and what each receiver has told."""
        params, marks = self.parameters, dict[str, Sequence[Mark]]()
        with ExitStack() as until_started:
            listeners = [until_started.enter_context(self._listen(one)) for one in connections]
            t0_ns = self.testbed.whole_second()
            if params.measure_from_s == 0:  # the interval includes the starts
                marks[BEGIN] = self._mark(BEGIN, connections, own)
            until_ns = t0_ns + (params.duration_s + 1) * NS_PER_S
            senders = [
                programs.start(
                    self.testbed.server_pid(one.pairs[0]),
                    [*PROGRAM, "send", str(listener.fileno()), str(until_ns)],
                    {},
                    [listener.fileno()],
                )
                for one, listener in zip(connections, listeners, strict=True)
            ]
        receivers = self._start(connections, own, programs, t0_ns)
        ends = {params.measure_from_s: BEGIN, params.duration_s: END}
        for second in range(1, params.duration_s + 1):
            self.testbed.sleep_until(t0_ns + second * NS_PER_S)
            if second in ends:
                marks[ends[second]] = self._mark(ends[second], connections, own)
            if second == params.leave_link1_s:
                marks[LEAVE] = tables.leaving(self._read(connections, own))
                self.testbed.leave_first_path()
            self.testbed.sample_tcp(second)
            progress(second)
        return t0_ns, senders, marks, [json.loads(told(one, "a receiver")) for one in receivers]

    def _start(
        self,
        connections: Sequence[Connection],
        own: Sequence[socket.socket],
        programs: Programs,
        t0_ns: int,
    ) -> list[Popen[str]]:
        """Let each client connect at its time."""
        params, started = self.parameters, {}
        draws = [self._draw(one.pairs[0]) for one in connections]
        for at in sorted(range(len(connections)), key=draws.__getitem__):
            self.testbed.sleep_until(t0_ns + int(draws[at] * params.start_jitter_us * 1000))
            pair, descriptor = connections[at].pairs[0], own[at].fileno()
            server = self.testbed.servers[pair - 1]
            since_ns = t0_ns + params.leave_link1_s * NS_PER_S
            words = [str(descriptor), server.ip, str(params.port), str(since_ns)]
            argv = [*PROGRAM, "receive", *words]
            pid = self.testbed.client_pid(pair)
            started[at] = programs.start(pid, argv, {}, [descriptor])
        return [started[at] for at in range(len(connections))]

    def _draw(self, pair: int) -> float:
        return stream(self.testbed.seed, "mptcp", "start", pair).random()

    def _listen(self, one: Connection) -> socket.socket:
        """Return a listening socket of a connection's server."""
        pair = one.pairs[0]
        listener = self._open(self.testbed.server_pid(pair), one.protocol)
        listener.bind((self.testbed.servers[pair - 1].ip, self.parameters.port))
        listener.listen()
        return listener

    def _socket(self, one: Connection) -> socket.socket:
        """Return a socket of a connection's client, at its first address."""
        pair = one.pairs[0]
        client = self._open(self.testbed.client_pid(pair), one.protocol)
        client.bind((self.testbed.clients[pair - 1].ip, 0))
        return client

    def _open(self, pid: int, protocol: int) -> socket.socket:
        with self.testbed.inside(pid):
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)

    def _mark(
        self, name: str, connections: Sequence[Connection], own: Sequence[socket.socket]
    ) -> Sequence[Mark]:
        """Note the queues' counters and each connection's state, at one end of the interval."""
        # No connection waits for the mark of time 0 (workload/iperf/source.py does the same).
        at_zero = self.parameters.measure_from_s == 0
        with self.testbed.at_once() if at_zero else nullcontext():
            self.testbed.snapshot(name)
            return self._read(connections, own)

    def _read(
        self, connections: Sequence[Connection], own: Sequence[socket.socket]
    ) -> Sequence[Mark]:
        return [self._state(*both) for both in zip(connections, own, strict=True)]

    def _state(self, one: Connection, own: socket.socket) -> Mark:
        """Return the state of a connection now."""
        first = one.pairs[0]
        at_client = self.testbed.subflows(self.testbed.client_pid(first))
        at_ns = time.monotonic_ns()
        at_server = self.testbed.subflows(self.testbed.server_pid(first))
        paths = []
        for pair in one.pairs:
            ip = self.testbed.clients[pair - 1].ip
            paths.append(OnPath(
                pair=pair,
                receiver=next((flow for flow in at_client if flow.local_ip == ip), None),
                sender=next((flow for flow in at_server if flow.peer_ip == ip), None),
            ))  # fmt: skip
        counted = info.read(own)
        return Mark(at_ns=at_ns, paths=paths, counted=counted)

    def _counters(self, connections: Sequence[Connection]) -> list[dict[str, int]]:
        """Return what both ends of each connection have counted of MPTCP so far, by its name."""
        return [
            {
                f"{end} {name}": value
                for end, pid_of in (
                    ("client", self.testbed.client_pid),
                    ("server", self.testbed.server_pid),
                )
                for name, value in self.testbed.mptcp_totals(pid_of(one.pairs[0])).items()
            }
            for one in connections
        ]

    @contextmanager
    def _unsent_limited(self) -> Iterator[None]:
        """Limit the unsent data: more data than a window needs only costs memory."""
        self._limit_unsent(self.parameters.unsent_bytes)
        try:
            yield
        finally:
            self._limit_unsent(UNLIMITED)

    def _limit_unsent(self, size: int) -> None:
        for host in self.testbed.servers:
            with self.testbed.inside(self.testbed.server_pid(host.pair)):
                NOTSENT.write_text(str(size))

    def summary(self) -> dict[str, Any]:
        return self._summary


PROGRAM = ("python3", "-B", "-m", "workload.mptcp.stream")
