# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_flavor_module.py: many connections at once.

Usage: in_lab.py JOB.json RESULT.json. JOB: {"flavors": [Flavor.as_dict(), ...],
"connections": of each flavor, "at_once", "bytes": of each connection, "mtu_bytes",
"rate_bit_per_s", "delay_ns", "limit_ns", "hammers": processes that take and give back
senders' sockets all the time (optional)}.

Each flavor has a sender and a receiver in namespaces of their own; all share one
bottleneck between two routers.
"""

from __future__ import annotations

import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, "/cellbed")

from pyroute2 import IPRoute  # noqa: E402

from harness.agent import flavor as agent_flavor  # noqa: E402
from harness.exact_loss.network import _configure, _neighbour, _tc  # noqa: E402
from plan import plan  # noqa: E402
from tests.flavors.answering import answer  # noqa: E402

Process = get_context("fork").Process
PORT = 5001
MODULE = "/opt/cellbed/cellbed_tcp.ko"
QUEUE_PACKETS = 150
# Of a process that takes sockets.
BURST = 20
PAUSE_S = 0.001
SETTLE_S = 5.0


class Net:
    """A network namespace, with an IPRoute that speaks to it."""

    home = os.open("/proc/self/ns/net", os.O_RDONLY)

    def __init__(self) -> None:
        os.unshare(os.CLONE_NEWNET)
        self.fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.ip = IPRoute()
        self.ip.link("set", index=1, state="up")
        os.setns(Net.home, os.CLONE_NEWNET)

    def __enter__(self) -> Net:
        os.setns(self.fd, os.CLONE_NEWNET)
        return self

    def __exit__(self, *_: object) -> None:
        os.setns(Net.home, os.CLONE_NEWNET)


def wire(a: Net, name: str, address: str, b: Net, far_name: str, far: str, mtu: int) -> None:
    with a:
        a.ip.link("add", ifname=name, kind="veth", peer={"ifname": far_name, "net_ns_fd": b.fd})
        mac = _configure(a.ip, name, address, mtu)
    far_mac = _configure(b.ip, far_name, far, mtu)
    _neighbour(a.ip, name, far, far_mac)
    _neighbour(b.ip, far_name, address, mac)


def build(job: dict[str, Any]) -> list[tuple[Net, Net]]:
    left, right = Net(), Net()
    mtu = job["mtu_bytes"]
    wire(left, "m0", "10.9.0.1", right, "m1", "10.9.0.2", mtu)
    for router in (left, right):
        with router:
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    shape = f"rate {job['rate_bit_per_s']}bit delay {job['delay_ns']}ns limit {QUEUE_PACKETS}"
    with left:
        # A queue of its own in front of the line, so that losses are of the queue.
        _tc("qdisc add dev m0 root netem " + shape)
    with right:
        _tc(f"qdisc add dev m1 root netem delay {job['delay_ns']}ns limit 1000000")
    left.ip.route("add", dst="10.2.0.0/16", gateway="10.9.0.2")
    right.ip.route("add", dst="10.1.0.0/16", gateway="10.9.0.1")
    pairs = []
    for i, flavor in enumerate(job["flavors"]):
        sender, receiver = Net(), Net()
        wire(sender, "e0", f"10.1.{i}.1", left, f"s{i}", f"10.1.{i}.254", mtu)
        wire(receiver, "e0", f"10.2.{i}.1", right, f"r{i}", f"10.2.{i}.254", mtu)
        for net, gateway in ((sender, f"10.1.{i}.254"), (receiver, f"10.2.{i}.254")):
            metrics = {"initcwnd": 1, "quickack": 1, "ssthresh": 64}
            net.ip.route("add", dst="default", gateway=gateway, metrics=metrics)
            with net:
                agent_flavor.apply(plan.part(plan.Flavor, flavor))
                for name in ("tcp_rmem", "tcp_wmem"):
                    Path("/proc/sys/net/ipv4", name).write_text("4096 16777216 67108864")
        pairs.append((sender, receiver))
    return pairs


def connect(pairs: list[tuple[Net, Net]], each: int) -> list[list[tuple[socket.socket, ...]]]:
    connected = []
    for i, (sender, receiver) in enumerate(pairs):
        with sender:
            listener = socket.create_server((f"10.1.{i}.1", PORT), backlog=each)
        mine = []
        for _ in range(each):
            with receiver:
                far = socket.create_connection((f"10.1.{i}.1", PORT))
            mine.append((listener.accept()[0], far))
        listener.close()
        connected.append(mine)
    return connected


def hammer(senders: list[socket.socket]) -> None:
    """For ever: own a sender's socket for a moment, whose ACKs are then for us to work off.

    With pauses: emulated processors are slow, and others are to have their turn.
    """
    chosen = random.Random(os.getpid())
    while True:
        for sender in chosen.sample(senders, k=min(BURST, len(senders))):
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        time.sleep(PAUSE_S)


@contextmanager
def hammers(connected: list[list[tuple[socket.socket, ...]]], count: int) -> Iterator[None]:
    """Processes that hammer for the duration."""
    senders = [near for mine in connected for near, _ in mine]
    processes = [Process(target=hammer, args=(senders,)) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def transfer(connected: list[list[tuple[socket.socket, ...]]], job: dict[str, Any]) -> list[int]:
    """Bytes received by each flavor's receivers until all is there or the time is over."""
    owner = {far: i for i, mine in enumerate(connected) for _, far in mine}
    received = [0] * len(connected)
    for mine in connected:
        for near, far in mine:
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            near.setblocking(False)
            far.setblocking(False)
            if near.send(bytes(job["bytes"])) != job["bytes"]:
                raise RuntimeError("the send buffer is too small")
    wanted = job["bytes"] * len(owner)
    poll = select.epoll()
    by_fd = {far.fileno(): far for far in owner}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    end = time.monotonic_ns() + job["limit_ns"]
    while sum(received) < wanted and time.monotonic_ns() < end:
        for fd, _ in poll.poll(1.0):
            received[owner[by_fd[fd]]] += len(by_fd[fd].recv(1 << 20))
    return received


def describe(connection: socket.socket) -> dict[str, Any]:
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return {
        "congestion": name.split(b"\0")[0].decode(),
        "sack": bool(raw[5] & 2),
        "timestamps": bool(raw[5] & 1),
        "mss": struct.unpack("8x24I", raw)[2],
    }


def close(connected: list[list[tuple[socket.socket, ...]]]) -> None:
    for mine in connected:
        for near, far in mine:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.close()
            far.close()


def counters(net: Net) -> dict[str, int]:
    with net:
        lines = Path("/proc/net/netstat").read_text().splitlines()
    both = dict(zip(lines[0].split()[1:], map(int, lines[1].split()[1:]), strict=True))
    return {k: both[k] for k in ("TCPTimeouts", "TCPRenoRecovery", "TCPSackRecovery")}


def settings(net: Net, flavor: dict[str, Any]) -> dict[str, str]:
    with net:
        return {
            name: " ".join(Path("/proc/sys/net/ipv4", name).read_text().split())
            for name in agent_flavor.settings(plan.part(plan.Flavor, flavor))
        }


def sockets() -> list[int]:
    """Sockets allocated and pages of memory in the whole kernel."""
    words = next(
        line for line in Path("/proc/net/sockstat").read_text().splitlines() if "TCP" in line
    ).split()
    return [int(words[words.index(key) + 1]) for key in ("alloc", "mem")]


def slabs() -> dict[str, int]:
    """Objects in use of the kernel's caches, by name.

    What a CPU holds ready counts as in use: shrinking gives back all but one slab of it.
    """
    for cache in Path("/sys/kernel/slab").glob("*/shrink"):
        cache.write_text("1")
    lines = Path("/proc/slabinfo").read_text().splitlines()[2:]
    return {name: int(used) for name, used, *_ in map(str.split, lines)}


def references() -> int:
    return int(Path("/sys/module/cellbed_tcp/refcnt").read_text())


def remove_module() -> str:
    done = subprocess.run(
        ["rmmod", "cellbed_tcp"], check=False, capture_output=True, text=True, timeout=60
    )
    return done.stderr.strip()


def run(job: dict[str, Any]) -> dict[str, Any]:
    subprocess.run(["insmod", MODULE], check=True, timeout=60)
    idle_sockets, idle_references = sockets(), references()
    pairs = build(job)
    built_references = references()
    result: dict[str, Any] = {"received": [0] * len(pairs), "described": []}
    rounds = []
    for _ in range(0, job["connections"], job["at_once"]):
        connected = connect(pairs, job["at_once"])
        with hammers(connected, job.get("hammers", 0)):
            received = transfer(connected, job)
        result["received"] = [a + b for a, b in zip(result["received"], received, strict=True)]
        result["described"] = [[describe(near) for near, _ in mine] for mine in connected]
        result["in_use"] = references() - built_references
        result["refusal"] = remove_module()
        close(connected)
        del connected
        time.sleep(SETTLE_S)
        rounds.append(slabs())
    result["counters"] = [counters(sender) for sender, _ in pairs]
    result["settings"] = [
        settings(net, flavor)
        for (pair, flavor) in zip(pairs, job["flavors"], strict=True)
        for net in pair
    ]
    result["slabs"] = rounds
    result["left_references"] = references() - built_references
    result["sockets"] = {"idle": idle_sockets, "after": sockets()}
    for pair in pairs:
        for net in pair:
            with net:
                Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("cubic")
    result["last_references"] = references() - idle_references
    result["removed"] = remove_module()
    log = subprocess.run(["dmesg"], check=True, capture_output=True, text=True, timeout=60).stdout
    result["warnings"] = [x for x in log.splitlines() if "WARNING:" in x or "BUG:" in x]
    return result


if __name__ == "__main__":
    answer(run)
