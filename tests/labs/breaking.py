# SPDX-License-Identifier: GPL-2.0-only
"""The agent of test_broken_trials.py: runs inside the lab, and breaks one thing a trial.

A job "broken" is a trial with the name of a breakage below. What a breakage changes is as
it was before the next trial.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harness.agent import jobs, probe
from harness.agent.bench import Bench
from harness.agent.tune_plan import route_metrics
from harness.captures import links
from plan.dumbbell import Dumbbell
from plan.framing import ATM
from plan.layout import Host, Layout, Link
from plan.plan import WORKLOADS
from plan.queue import Port
from topology import commands, netlink, rtnetlink
from topology.qdisc import QdiscQueue
from topology.queues import cells
from topology.run import batch, in_namespace, run
from workload import specweb
from workload.dash import source as dash
from workload.dash.video import Video
from workload.iperf import iperf3
from workload.mptcp import source as mptcp
from workload.nginx_servers import documents
from workload.packmime import carriers
from workload.quic import stacks
from workload.quic.source import CLIENT_PORT
from workload.source import Source
from workload.www import www_client

DISCARD = 9
LIBC = ctypes.CDLL(None, use_errno=True)
PIDFD_GETFD = 438
SO_RCVBUFFORCE = 33
RECORDING = f"{cells.CELLQ}\0record\0".encode()
Breakage = Callable[[Source], Any]
BREAKAGES: dict[str, Breakage] = {}
# What a breakage wants done when the first second of the workload is over.
AT_SECOND_1: list[Callable[[], None]] = []


def breakage(broken: Callable[[Source], Iterator[None]]) -> Callable[[Source], Iterator[None]]:
    """Enter it in the table: what is done while the workload runs, then undone."""
    BREAKAGES[broken.__name__.replace("_", " ")] = contextmanager(broken)
    return broken


@breakage
def nothing(source: Source) -> Iterator[None]:
    yield


@breakage
def a_kernel_that_warns(source: Source) -> Iterator[None]:
    log = Path("/dev/kmsg")
    AT_SECOND_1.append(lambda: log.write_text("<4>WARNING: CPU: 0 PID: 0 at net/nowhere.c:1\n"))
    yield


@breakage
def departure_times_ignored(source: Source) -> Iterator[None]:
    run(["tc", *f"qdisc replace dev {commands.DOWN_PORT} root pfifo limit 100000".split()])
    yield


@breakage
def loss_in_a_switch(source: Source) -> Iterator[None]:
    yield from loss_at_a_client(source, 1, "0.5%")


@breakage
def a_rare_loss_at_a_cross_host(source: Source) -> Iterator[None]:
    """Of each thousand packets one, at a switch from which more links leave."""
    yield from loss_at_a_client(source, 2, "0.1%")


def loss_at_a_client(source: Source, pair: int, part: str) -> Iterator[None]:
    """In the switch, at the port of this pair's client."""
    port = source.testbed.clients[pair - 1].switch_port
    whole = commands.access_netem(port, source.testbed.network.layout.access)
    batch("tc", [f"{whole} loss {part} seed 1"])
    yield
    batch("tc", [whole])


def losses_of_the_path(source: Source, words: str) -> None:
    """On the last middle link."""
    network = source.testbed.network
    last = network.layout.middles()[-1]
    with in_namespace(network.pids[last.box]):
        batch("tc", [commands.box_delay(commands.SAT_UP, last.link, words)])


@breakage
def a_path_that_loses_packets(source: Source) -> Iterator[None]:
    losses_of_the_path(source, "loss 2%")
    yield
    losses_of_the_path(source, "")


@breakage
def a_path_that_loses_nothing(source: Source) -> Iterator[None]:
    losses_of_the_path(source, "")
    yield


@breakage
def another_congestion_control(source: Source) -> Iterator[None]:
    """At one server."""
    own = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    with in_namespace(source.testbed.server_pid(1)):
        before = own.read_text()
        own.write_text("cubic")
    yield
    with in_namespace(source.testbed.server_pid(1)):
        own.write_text(before)


@breakage
def a_client_that_hides_its_second_address(source: Source) -> Iterator[None]:
    with patch.object(source.testbed, "several_paths", nullcontext):
        yield


@breakage
def a_server_without_mptcp(source: Source) -> Iterator[None]:
    def opened(pid: int, protocol: int) -> socket.socket:
        return whole(pid, 0 if pid == source.testbed.server_pid(1) else protocol)

    whole = source._open
    with patch.object(source, "_open", opened):
        yield


@breakage
def a_second_subflow_over_the_first_link(source: Source) -> Iterator[None]:
    """The server sends to the second address of a client with the first one's Ethernet address."""
    [(one, other), *_] = source.testbed.bundles["client"]
    first, second = (source.testbed.clients[pair - 1] for pair in (one, other))
    words = f"ip neigh replace {second.ip} dev eth0 nud permanent lladdr".split()
    with in_namespace(source.testbed.server_pid(one)):
        run([*words, first.mac])
    yield
    with in_namespace(source.testbed.server_pid(one)):
        run([*words, second.mac])


@breakage
def a_client_that_stays(source: Source) -> Iterator[None]:
    with patch.object(source.testbed, "leave_first_path", lambda: None):
        yield


@breakage
def a_receiver_that_forgets_a_block(source: Source) -> Iterator[None]:
    def told(process: Any, what: str) -> str:
        said = whole(process, what)
        if what != "a receiver":
            return said
        found = json.loads(said)
        return json.dumps({**found, "bytes": found["bytes"] - 16_384})

    whole = mptcp.told
    with patch.object(mptcp, "told", told):
        yield


@breakage
def corruption_that_a_host_drops(source: Source) -> Iterator[None]:
    port, access = source.testbed.clients[0].switch_port, source.testbed.network.layout.access
    batch("tc", [commands.access_netem(port, access) + " corrupt 2%"])
    yield
    # netem keeps what a change does not mention.
    batch("tc", [f"qdisc del dev {port} root", commands.access_netem(port, access)])


@breakage
def backlog_of_one_packet(source: Source) -> Iterator[None]:
    path = Path("/proc/sys/net/core/netdev_max_backlog")

    def shorten() -> None:
        before = path.read_text()
        path.write_text("0")
        time.sleep(0.05)
        path.write_text(before)

    AT_SECOND_1.append(shorten)
    yield


@breakage
def small_receive_buffer(source: Source) -> Iterator[None]:
    """For a while nobody reads, and there is no room for the window that was promised."""

    def shrink() -> None:
        send(source.testbed.client_pid(1), signal.SIGSTOP)
        receive_buffer(source, 2048)
        time.sleep(0.1)
        receive_buffer(source, 1 << 24)
        send(source.testbed.client_pid(1), signal.SIGCONT)

    AT_SECOND_1.append(shrink)
    yield


def receive_buffer(source: Source, size: int) -> None:
    """Set SO_RCVBUF of every socket of the first client's receiver, from outside."""
    for pid in processes_of(source.testbed.client_pid(1)):
        pidfd = os.pidfd_open(pid)
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            if str(entry.readlink()).startswith("socket:"):
                fd = LIBC.syscall(PIDFD_GETFD, pidfd, int(entry.name), 0)
                with socket.socket(fileno=fd) as copy:
                    copy.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, size)
        os.close(pidfd)


def processes_of(holder: int) -> list[int]:
    """Processes in the network namespace of `holder`, itself left out."""
    wanted = (Path("/proc") / str(holder) / "ns/net").readlink()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "ns/net").readlink() == wanted and int(entry.name) != holder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@breakage
def requests_never_sent(source: Source) -> Iterator[None]:
    def cut(*words: Any, **more: Any) -> list[str]:
        argv = whole(*words, **more)
        argv[argv.index("--duration-ns") + 1] = "1000000000"
        return argv

    whole = www_client.argv
    with patch.object(www_client, "argv", cut):
        yield


@breakage
def files_cut_short(source: Source) -> Iterator[None]:
    for path in documents().iterdir():
        os.truncate(path, path.stat().st_size // 2)
    yield
    specweb.write(documents())


@breakage
def segments_cut_short(source: Source) -> Iterator[None]:
    """Each file of the video has half of its bytes."""

    def write(video: Video, folder: Path) -> None:
        whole(video, folder)
        for path in folder.glob("*/*"):
            os.truncate(path, path.stat().st_size // 2)

    whole = Video.write
    with patch.object(Video, "write", write):
        yield


def told_otherwise(**keys: Any) -> Any:
    """The players' program gets other keys than the trial has."""
    whole = dash.words_of
    return patch.object(dash, "words_of", lambda params: {**whole(params), **keys})


@breakage
def players_with_a_larger_buffer(source: Source) -> Iterator[None]:
    with told_otherwise(buffer_ms=1001):
        yield


@breakage
def players_with_another_rule(source: Source) -> Iterator[None]:
    with told_otherwise(adaptation="buffer"):
        yield


@breakage
def players_that_stop_after_a_second(source: Source) -> Iterator[None]:
    with told_otherwise(duration_s=1):
        yield


@breakage
def a_server_that_dies(source: Source) -> Iterator[None]:
    AT_SECOND_1.append(lambda: send(source.testbed.server_pid(1), signal.SIGKILL))
    yield


def send(holder: int, number: signal.Signals) -> None:
    for pid in processes_of(holder):
        os.kill(pid, number)


@breakage
def another_receiver_window(source: Source) -> Iterator[None]:
    # The kernel holds to a route's window only as far as the scale of its header goes.
    host = dumbbell(source).clients()[1]
    metrics = route_metrics(source.testbed.plan.tcp, "client")
    route(source, host, {**metrics, "window": 4 * 65_535})
    yield
    route(source, host, metrics)


def route(source: Source, host: Host, metrics: dict[str, int]) -> None:
    with netlink.open_in(source.testbed.network.pids[host.name]) as link:
        rtnetlink.apply(link, [rtnetlink.route(host.ifindex, host.peer_ip, host.ip, metrics)])


@breakage
def a_server_that_complains(source: Source) -> Iterator[None]:
    """A folder is asked for, from the server's own host: the trial's clients never hear of it."""

    def ask() -> None:
        with (
            in_namespace(source.testbed.server_pid(1)),
            socket.create_connection((source.testbed.servers[0].ip, 80)) as one,
        ):
            one.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while one.recv(4096):
                pass

    AT_SECOND_1.append(ask)
    yield


@breakage
def a_client_that_sleeps(source: Source) -> Iterator[None]:
    def sleep() -> None:
        # One program plays all clients, in the namespace of one of them.
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for client in source.testbed.clients:
                send(source.testbed.client_pid(client.pair), number)
            time.sleep(0.4 if number == signal.SIGSTOP else 0)

    AT_SECOND_1.append(sleep)
    yield


@breakage
def a_server_that_does_not_answer(source: Source) -> Iterator[None]:
    """The first of ngtcp2's, as long as its client tries to connect."""

    def start(servers: stacks.Ngtcp2, *words: Any) -> None:
        whole(servers, *words)
        stopped = servers.started[0]
        stopped.send_signal(signal.SIGSTOP)
        AT_SECOND_1.append(lambda: stopped.send_signal(signal.SIGCONT))

    whole = stacks.Ngtcp2.start
    with patch.object(stacks.Ngtcp2, "start", start):
        yield


@breakage
def a_datagram_of_another_program(source: Source) -> Iterator[None]:
    """From a server's host to its client."""

    def give() -> None:
        with probe.socket_of(source.testbed.server_pid(1)) as giver:
            giver.sendto(b"?", (source.testbed.clients[0].ip, CLIENT_PORT))

    AT_SECOND_1.append(give)
    yield


@breakage
def an_access_link_2_ms_long(source: Source) -> Iterator[None]:
    """Of a server, from the first second on."""
    access, server = source.testbed.access, dumbbell(source).servers()[0]

    def set_delay(link: Link) -> None:
        with netlink.open_in(source.testbed.server_pid(1)) as there:
            rtnetlink.apply(there, [commands.host_settings([server], link)[-1]])

    AT_SECOND_1.append(lambda: set_delay(replace(access, delay_ns=access.delay_ns + 2_000_000)))
    yield
    set_delay(access)


@breakage
def a_slow_source(source: Source) -> Iterator[None]:
    def slow(*words: Any) -> list[str]:
        return [*whole(*words), "--bitrate", "500K"]

    whole = iperf3.source_argv
    with patch.object(iperf3, "source_argv", slow):
        yield


@breakage
def an_unmarked_frame(source: Source) -> Iterator[None]:
    with suppress(OSError):  # it is told that its frame was dropped
        send_raw(commands.DOWN_PORT, datagram(dumbbell(source).clients()[0]))
    yield


@breakage
def a_packet_from_nowhere(source: Source) -> Iterator[None]:
    """It comes to a client that waits for it, and no server sent it."""
    client = dumbbell(source).clients()[0]
    with in_namespace(source.testbed.client_pid(1)):
        taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with taker:
        taker.bind((client.ip, DISCARD))
        with in_namespace(source.testbed.network.pids["sat"]):
            send_raw(commands.SAT_UP, datagram(client))
        yield


@breakage
def round_trips_a_tenth_of_a_millisecond_off(source: Source) -> Iterator[None]:
    with other_round_trips(source, lambda ends: [(*e[:3], max(0, e[3] - 100_000)) for e in ends]):
        yield


@breakage
def a_connection_without_a_round_trip(source: Source) -> Iterator[None]:
    with other_round_trips(source, lambda ends: list(ends)[1:]):
        yield


@breakage
def one_round_trip_a_tenth_of_a_millisecond_long(source: Source) -> Iterator[None]:
    def longer(ends: Any) -> Any:
        first, *others = ends
        return [(*first[:3], first[3] + 100_000), *others]

    with other_round_trips(source, longer):
        yield


@breakage
def servers_that_take_their_time(source: Source) -> Iterator[None]:
    """Their clients ask for 3 ms more than the trace has."""
    with other_trace(source, 3_000_000):
        yield


def other_trace(source: Source, more_ns: int) -> Any:
    """The clients read another trace than the one that the trial is judged by."""

    def argv(program: Path, path: Path, *words: Any, **more: Any) -> list[str]:
        other = source.testbed.folder / "other-trace"
        lines = path.read_text().splitlines()
        column = lines[1].split(",").index("server_delay_ns")
        for number, line in enumerate(lines[2:-1], start=2):
            cells = line.split(",")
            cells[column] = str(int(cells[column]) + more_ns)
            lines[number] = ",".join(cells)
        other.write_text("\n".join([*lines, ""]))
        return whole(program, other, *words, **more)

    whole = carriers.client_argv
    return patch.object(carriers, "client_argv", argv)


def other_round_trips(source: Source, changed: Callable[[Any], Any]) -> Any:
    whole = source.testbed.delay.round_trips
    return patch.object(
        source.testbed.delay, "round_trips", lambda lab, ends: whole(lab, changed(ends))
    )


@breakage
def a_server_that_sends_too_much(source: Source) -> Iterator[None]:
    with wrong_server(source, "too-much"):
        yield


@breakage
def a_server_that_sends_too_little(source: Source) -> Iterator[None]:
    with wrong_server(source, "too-little"):
        yield


@breakage
def a_server_that_ends_early(source: Source) -> Iterator[None]:
    with wrong_server(source, "ends-early"):
        yield


def wrong_server(source: Source, wrong: str) -> Any:
    """On one host, and it claims that all is well."""

    def argv(program: Path, address: str, out: Path) -> list[str]:
        words = whole(program, address, out)
        own = ["python3", "-B", "-m", "tests.labs.wrong_packmime_server", wrong]
        return [*own, *words[1:]] if address == source.testbed.servers[0].ip else words

    whole = carriers.server_argv
    return patch.object(carriers, "server_argv", argv)


@breakage
def a_recorder_that_is_killed(source: Source) -> Iterator[None]:
    """Its file ends behind a whole record."""

    def kill() -> None:
        for entry in Path("/proc").glob("[0-9]*"):
            if (entry / "cmdline").read_bytes().startswith(RECORDING):
                os.kill(int(entry.name), signal.SIGKILL)

    AT_SECOND_1.append(kill)
    yield


def dumbbell(source: Source) -> Dumbbell:
    return source.testbed.plan.topology.dumbbell()


def send_raw(device: str, frame: bytes) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
        out.bind((device, 0x0800))
        out.send(frame)


def datagram(to: Host) -> bytes:
    """An empty UDP datagram from a client's peer, in Ethernet."""
    addresses = socket.inet_aton(to.peer_ip) + socket.inet_aton(to.ip)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 17, 0) + addresses
    total = sum(struct.unpack("!10H", head))
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    head = head[:10] + struct.pack("!H", checksum) + head[12:]
    macs = bytes.fromhex((to.mac + to.peer_mac).replace(":", ""))
    return macs + b"\x08\0" + head + struct.pack("!HHHH", DISCARD, DISCARD, 8, 0)


@breakage
def a_clock_that_is_set(source: Source) -> Iterator[None]:
    time.clock_settime(time.CLOCK_REALTIME, time.time() + 0.005)
    yield


@contextmanager
def a_delay_that_is_off(share: float) -> Iterator[None]:
    """On the last middle link, for the pings."""

    def look(network: Any, wanted: Layout, *pairs: Any) -> list[float]:
        last = wanted.middles()[-1]
        delay_ns = round(last.link.delay_ns * (1 + share))
        with in_namespace(network.pids[last.box]):
            batch("tc", [f"qdisc change dev {box} root netem limit 1000000 delay {delay_ns}ns"
                         for box in (commands.SAT_DOWN, commands.SAT_UP)])  # fmt: skip
        try:
            return whole(network, wanted, *pairs)
        finally:
            with in_namespace(network.pids[last.box]):
                batch("tc", commands.sat_delay(last.link))

    whole = probe.idle_round_trip
    with patch.object(probe, "idle_round_trip", look):
        yield


@contextmanager
def a_capture_without_pings() -> Iterator[None]:
    def start(argv: list[str], *words: Any, **more: Any) -> Any:
        return whole([*argv, "not", "icmp"] if argv[0] == "tcpdump" else argv, *words, **more)

    whole = subprocess.Popen
    with patch.object(subprocess, "Popen", start):
        yield


def a_recorder_without_room() -> Any:
    return patch.object(cells, "log_of", lambda *_: Path("/dev/full"))


def other_link_samples(changed: Callable[[int, list[Any]], list[Any]]) -> Any:
    """links.csv gets other rows: `changed` has the number of a sample and its rows."""
    whole, numbers = links.Capture.rows, count()
    return patch.object(
        links.Capture, "rows", lambda self: changed(next(numbers), list(whole(self)))
    )


def of_another_link(number: int, rows: list[Any]) -> list[Any]:
    down, (first, one), other_down, (second, other) = rows
    return [down, (first, other), other_down, (second, one)]


def of_more_bytes(number: int, rows: list[Any]) -> list[Any]:
    return [(name, value * (2 if number == 2 else 1)) for name, value in rows]


@contextmanager
def another_link(**changes: Any) -> Iterator[None]:
    """The middle links are built with another rate or framing than the plan's."""

    def load(queue: QdiscQueue, port: Port) -> None:
        links = {
            end: replace(
                link, **{key: change(getattr(link, key)) for key, change in changes.items()}
            )
            for end, link in (("access", port.dumbbell.access), ("middle", port.dumbbell.middle))
        }
        whole(queue, replace(port, dumbbell=replace(port.dumbbell, **links)))

    whole = QdiscQueue.load
    with patch.object(QdiscQueue, "load", load):
        yield


# Those that are not of the workload's time alone.
WHOLE_TRIAL: dict[str, Callable[[], Any]] = {
    "a delay 1 % long": lambda: a_delay_that_is_off(0.01),
    "a delay 1 % short": lambda: a_delay_that_is_off(-0.01),
    "a link of cells": lambda: another_link(framing=lambda _: ATM),
    "a link 1 % slow": lambda: another_link(rate_bit_per_s=lambda rate: rate * 99 // 100),
    "a capture without pings": a_capture_without_pings,
    "a recorder without room": a_recorder_without_room,
    "samples of another link": lambda: other_link_samples(of_another_link),
    "a sample with too many bytes": lambda: other_link_samples(of_more_bytes),
    "a sample that is left out": lambda: other_link_samples(lambda n, rows: rows[n == 2 :]),
}


def broken_source(kind: type[Source], name: str) -> type[Source]:
    """The workload's source, with a breakage around its run."""

    class Broken(kind):  # type: ignore[misc, valid-type]
        def run(self, progress: Callable[[int], None]) -> None:
            def also(second: int) -> None:
                for act in AT_SECOND_1 if second == 1 else ():
                    act()
                progress(second)

            AT_SECOND_1.clear()
            with BREAKAGES[name](self):
                super().run(also)

    return Broken


class BreakingBench(Bench):
    """Knows one kind of job more."""

    def do(self, job: dict[str, Any]) -> None:
        name = job.get("broken", "nothing")
        if job["kind"] != "trial":
            super().do(job)
            return
        with ExitStack() as stack:
            if name in WHOLE_TRIAL:
                stack.enter_context(WHOLE_TRIAL[name]())
            else:
                kind = WORKLOADS[job["plan"]["workload"]["kind"]]
                broken = broken_source(kind.Source, name)
                stack.enter_context(patch.object(kind, "Source", broken))
            super().do(job)


if __name__ == "__main__":
    jobs.main(BreakingBench)
