# SPDX-License-Identifier: GPL-2.0-only
"""Runs video players in a lab."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import shutil
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from workload import source
from workload.checks import late_requests, receiver_window, requests, server_errors
from workload.dash import replay, tables
from workload.dash.checks import buffers, levels
from workload.dash.parameters import NS_PER_S, Parameters
from workload.dash.tables import Segment, StallRow
from workload.dash.video import Video, start_ns
from workload.nginx_servers import PORT, complaints, start_server
from workload.ready import await_line, told
from workload.source import Programs

DOCROOT = Path("/tmp/dash")
SPEC = Path("/tmp/dash.json")
# How long a connection may take: the kernel repeats a lost SYN after a second and more.
CONNECT_NS, CONNECT_ROUND_TRIPS, SYN_IP_BYTES = 30 * NS_PER_S, 10, 60
RESET_AT_CLOSE = struct.pack("ii", 1, 0)  # nothing of this trial remains in the next trial


class Source(source.Source):
    """nginx on every server host, and one program with the players of all clients."""

    files = (tables.SEGMENTS, tables.STALLS)
    checks = (requests, server_errors, receiver_window, late_requests, buffers, levels)
    responses = {
        "video_mbit_per_s": "Mbit/s",
        "stalls": "stalls",
        "stall_s": "stall s",
        "switches": "switches",
        "start_up_s": "start s",
    }

    parameters: Parameters
    _summary: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        video = Video(self.parameters, self.testbed.seed)
        with docroot(video), self.testbed.programs() as programs:
            server = start_server(self.testbed, programs, docroot=DOCROOT)
            sockets = self._connect()
            try:
                before = self._counters()
                client, t0_ns = self._begin(programs, sockets)
                self.follow(t0_ns, progress)
                after, senders = self._counters(), self._senders()
                facts = json.loads(told(client, "the players' program"))
            finally:
                for one in sockets:
                    one.close()
            said = complaints(server)
        self.write_flows(
            flow(one, before[one["pair"]], after[one["pair"]], senders[one["pair"]])
            for one in facts
        )
        windows = [senders[one["pair"]].get("snd_wnd") for one in facts]
        self._summary = {
            "t0_ns": t0_ns,
            **totals(facts),
            **self._replayed(facts),
            "peer_window_bytes": [None if one is None else int(one) for one in windows],
            "server_complaints": said,
        }

    def _connect(self) -> list[socket.socket]:
        """Return a connection for each pair. They begin on a whole second (www_client.c)."""
        self.testbed.sleep_until(-(-time.monotonic_ns() // NS_PER_S) * NS_PER_S)
        made = []
        for host in self.testbed.clients:
            with self.testbed.inside(self.testbed.client_pid(host.pair)):
                one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            made.append(one)
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
            one.connect_ex((host.peer_ip, PORT))
        until_ns = time.monotonic_ns() + CONNECT_NS
        until_ns += round(CONNECT_ROUND_TRIPS * self.testbed.idle_round_trip_ns(SYN_IP_BYTES))
        for host, one in zip(self.testbed.clients, made, strict=True):
            await_connection(one, until_ns, f"pair {host.pair}")
        return made

    def _begin(
        self, programs: Programs, sockets: Sequence[socket.socket]
    ) -> tuple[Popen[str], int]:
        """Start the players' program, and the trial when it is ready; return the trial's start."""
        read_end, write_end = os.pipe()
        try:
            inherited = [*(one.fileno() for one in sockets), read_end]
            self._write_spec(sockets, read_end)
            argv = ["python3", "-B", "-m", "workload.dash.client", str(SPEC)]
            client = programs.start(self.testbed.client_pid(1), argv, {}, inherited)
            await_line(client, "the players' program")
            t0_ns = self.testbed.whole_second()
            os.write(write_end, t0_ns.to_bytes(8, "little"))
        finally:
            os.close(read_end)
            os.close(write_end)
        return client, t0_ns

    def _write_spec(self, sockets: Sequence[socket.socket], start: int) -> None:
        """Write what the client reads at its start."""
        SPEC.write_text(json.dumps({
            "folder": str(self.testbed.folder),
            "seed": self.testbed.seed,
            "parameters": words_of(self.parameters),
            "pairs": [
                {"pair": host.pair, "descriptor": one.fileno(), "address": host.peer_ip}
                for host, one in zip(self.testbed.clients, sockets, strict=True)
            ],
            "start": start,
        }))  # fmt: skip

    def _counters(self) -> dict[int, Mapping[str, int]]:
        """Return the senders' timeouts and retransmissions so far, by pair."""
        pids = {host.pair: self.testbed.server_pid(host.pair) for host in self.testbed.servers}
        return {pair: self.testbed.tcp_totals(pid) for pair, pid in pids.items()}

    def _senders(self) -> dict[int, dict[str, Any]]:
        """Return what the kernel says of each sender's connection; empty: it is gone."""
        found = {}
        for host in self.testbed.servers:
            pid = self.testbed.server_pid(host.pair)
            windows = [
                one.cwnd_segments for one in self.testbed.connections(pid) if PORT in one.ports
            ]
            shown = self.testbed.shown_connection(pid, PORT)
            found[host.pair] = {**shown, "cwnd_segments": next(iter(windows), None)}
        return found

    def _replayed(self, facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Compare the client's tables with replay.py; return the verdicts and the figures."""
        params, folder = self.parameters, self.testbed.folder
        segments = tables.read(folder / tables.SEGMENTS, Segment)
        stalls = tables.read(folder / tables.STALLS, StallRow)
        wrong_buffers, wrong_levels, players = [], [], []
        for one in facts:
            pair, begin_ns = one["pair"], start_ns(params, self.testbed.seed, one["pair"])
            rows = [row for row in segments if row.pair == pair]
            told_stalls = [(row.begin_ns, row.end_ns) for row in stalls if row.pair == pair]
            wrong_buffers.append(replay.unlike_buffers(
                params, rows, told_stalls, start_ns=begin_ns, broken=bool(one["broken"])
            ))  # fmt: skip
            wrong_levels.append(replay.unlike_levels(params, rows))
            players.append(replay.viewed(params, rows, begin_ns))
        return {
            "unlike_buffers": wrong_buffers,
            "unlike_levels": wrong_levels,
            "figures": replay.figures(players),
        }

    def summary(self) -> dict[str, Any]:
        return self._summary


def words_of(params: Parameters) -> dict[str, Any]:
    """Return the keys as the client reads them."""
    return dataclasses.asdict(params)


def await_connection(one: socket.socket, until_ns: int, name: str) -> None:
    """Wait until a socket is connected; RuntimeError if it is not at a moment."""
    waiter = select.poll()
    waiter.register(one, select.POLLOUT)
    if not waiter.poll(max(0, (until_ns - time.monotonic_ns()) // 1_000_000)):
        raise RuntimeError(f"{name}: the connection was not there in time")
    error = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise RuntimeError(f"{name}: cannot connect: {os.strerror(error)}")


def flow(
    one: Mapping[str, Any],
    before: Mapping[str, int],
    after: Mapping[str, int],
    sender: Mapping[str, Any],
) -> dict[str, object]:
    """Return a row of flows.csv; a player has no bytes that it must receive."""
    return {
        "pair": one["pair"],
        "received_bytes": one["received_bytes"],
        "requests": one["sent"],
        "answered": one["answered"],
        **{name: after[name] - before[name] for name in ("timeouts", "retransmits")},
        "cwnd_segments": sender["cwnd_segments"],
        "ssthresh_segments": sender.get("ssthresh"),
        "srtt_us": round(float(sender["rtt"].split("/")[0]) * 1000) if "rtt" in sender else None,
    }


def totals(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts of requests and bytes by their outcome."""
    sent, answered = (sum(one[name] for one in facts) for name in ("sent", "answered"))
    return {
        "offered": sent,
        "answered": answered,
        "outstanding": sent - answered,
        "unsent": 0,
        "bad_status": sum(one["bad_status"] for one in facts),
        "broken": [f"pair {one['pair']}: {one['broken']}" for one in facts if one["broken"]],
        "unexplained_bytes": [one["unexplained_bytes"] for one in facts],
        "max_late_ns": max(one["late_ns"] for one in facts),
    }


@contextmanager
def docroot(video: Video) -> Iterator[None]:
    """Make the files of the video for the duration of a `with`."""
    shutil.rmtree(DOCROOT, ignore_errors=True)
    video.write(DOCROOT)
    try:
        yield
    finally:
        shutil.rmtree(DOCROOT)
