# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: UDP bursts from many hosts through one cell queue.

    host i (own namespace) eth0 --netem: access link--> port i --mark i--> down --> sink

Usage: lab_traffic.py CELLQ OUT_DIRECTORY POLICY,POLICY... HOSTS SECONDS

Leaves, for each policy, POLICY.rec (cellq record), POLICY.json (cellq read),
POLICY.agent.json (what the agent reads of the same) and POLICY.sink.json (when
which packet came out: [CLOCK_MONOTONIC ns, bytes]) in OUT_DIRECTORY. Needs root,
iproute2, bpftool and Python, and a clean network namespace.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

SO_TIMESTAMPNS = 35
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
ETH_P_ALL = 3
BASE = 1000
CELL_NS = 2831
PORT_CELLS_PER_S = 45e6 / 424


def run(line: str) -> None:
    """Run a command line; an error ends the program."""
    subprocess.run(line.split(), check=True)


def run_and_say(words: list[str]) -> bytes:
    """Run a command; its standard output."""
    return subprocess.run(words, check=True, capture_output=True).stdout


def new_namespace() -> int:
    """A process in a network namespace of its own that sleeps until killed."""
    ready, done = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.unshare(os.CLONE_NEWNET)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        os.write(done, b"x")
        while True:
            signal.pause()
    os.read(ready, 1)
    os.close(ready)
    os.close(done)
    return pid


def inside(pid: int, line: str) -> None:
    """Run a command line in a process's network namespace."""
    run(f"nsenter -t {pid} -n {line}")


def socket_in(pid: int, *kind: int) -> socket.socket:
    """A socket that belongs to a process's network namespace."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    os.setns(there, os.CLONE_NEWNET)
    made = socket.socket(*kind)
    os.setns(home, os.CLONE_NEWNET)
    os.close(there)
    os.close(home)
    return made


def make_host(i: int, mtu: int = 9220) -> int:
    """Host i with its access link, and its marking port; returns its pid."""
    pid = new_namespace()
    inside(
        pid,
        f"ip link add name eth0 index {BASE + i} mtu {mtu} address {mac(i)} type veth "
        f"peer name port{i} netns 1",
    )
    run(f"ip link set dev port{i} mtu {mtu} up")
    inside(pid, f"ip addr add 10.2.{i >> 8}.{i & 255}/8 dev eth0")
    inside(pid, "ip link set eth0 up")
    inside(pid, "ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:09 dev eth0")
    inside(pid, f"tc qdisc add dev eth0 root netem limit 100000 delay 5000ns "
                f"rate {53 * 10**9 // CELL_NS * 8}bit 2 48 5")  # fmt: skip
    run(f"tc qdisc add dev port{i} clsact")
    run(f"tc filter add dev port{i} ingress matchall action skbedit mark {i} "
        f"pipe action mirred egress redirect dev down")  # fmt: skip
    return pid


def mac(i: int) -> str:
    """Hardware address of host i."""
    return f"02:00:00:01:{i >> 8:02x}:{i & 255:02x}"


def make_port() -> int:
    """The port `down` over fq; returns a process beyond it, where `sink` is."""
    pid = new_namespace()
    run("ip link add name down mtu 9220 type veth peer name sink mtu 9220")
    run(f"ip link set sink netns {pid}")
    run("ip link set dev down up")
    inside(pid, "ip link set sink up")
    run("tc qdisc add dev down root fq limit 200000 flow_limit 200000 nopacing "
        "timer_slack 0 horizon 1000s")  # fmt: skip
    return pid


def make_sink(pid: int) -> socket.socket:
    """A socket that stamps what comes out of the port."""
    sink = socket_in(pid, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 30)
    sink.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sink.setblocking(False)
    return sink


def receive(sink: socket.socket) -> list[tuple[int, int]]:
    """(CLOCK_REALTIME ns, IP bytes) of all that has come."""
    got: list[tuple[int, int]] = []
    while True:
        try:
            data, ancillary, _, _ = sink.recvmsg(65536, 64)
        except BlockingIOError:
            return got
        s, ns = struct.unpack("qq", ancillary[0][2])
        got.append((s * 10**9 + ns, len(data)))


def make_sender(pid: int) -> socket.socket:
    """A UDP socket of a host, with room for any burst."""
    sender = socket_in(pid, socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
    return sender


def send(senders: list[socket.socket], seconds: float, rng: random.Random) -> None:
    """Bursts from random hosts, load 1.5 on average, sizes as TCP has them; then
    time for the last to get through."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        cells = 0
        for _ in range(rng.choice([1, 3, 30])):
            sender = rng.choice(senders)
            for _ in range(rng.choice([1, 2, 8])):
                payload = rng.choice([12, 1036, 1036, 1036, 9192])  # 2, 23, 193 cells
                sender.sendto(bytes(payload), ("10.9.9.9", 9))
                cells += (payload + 28 + 16 + 47) // 48
        time.sleep(rng.expovariate(1.5) * cells / PORT_CELLS_PER_S)
    time.sleep(2)


def load(cellq: str, listed: Path, policy: str, count: int) -> None:
    """The port's queue, recording everything, on the WAN's smallest buffer."""
    run(f"{cellq} load --name down --policy {policy} --buffer-cells 531 --threshold-ppm 800000 "
        f"--z-ppm 800000 --rate-bit-per-s 45000000 --access-rate-bit-per-s 149760000 "
        f"--access-delay-ns 5000 --vcs {count} --ifindex-base {BASE} --verdict-dev down "
        f"--announce-list {listed} --record-frames --record-drops --sample-ns 1000000 "
        f"--late-tolerance-ns {os.environ.get('LATE_TOLERANCE_NS', '0')}")  # fmt: skip


def counters(cellq: str) -> dict[str, Any]:
    """What `cellq read` says."""
    words = [cellq, "read", "--name", "down", "--json"]
    said: dict[str, Any] = json.loads(run_and_say(words))
    return said


def seen_by_agent(vcs: int) -> dict[str, Any]:
    """What the agent reads without a process: delivered and waiting frames, compiled programs."""
    sys.path.append(str(Path(__file__).parents[2]))
    from topology import bpf, cellq_counters  # the project is on no other path here

    said = json.loads(run_and_say(["bpftool", "-j", "prog", "show"]))
    return {
        "passed": cellq_counters.passed("down", vcs),
        "programs": sorted(compiled for kind, compiled in bpf.programs() if kind == bpf.SCHED_CLS),
        "bpftool": sorted(bool(one["jited"]) for one in said if one["type"] == "sched_cls"),
    }


def trial(cellq: str, out: Path, policy: str, hosts: int, traffic: Callable[[], None]) -> None:
    """One policy: load, record, send, read, unload."""
    load(cellq, out / "announce.list", policy, hosts)
    words = ["record", "--name", "down", "--out", f"{out}/{policy}.rec", "--until-signal"]
    recorder = subprocess.Popen([cellq, *words])
    time.sleep(0.1)  # virtual time: the recorder has its file open and waits
    traffic()
    recorder.terminate()
    if recorder.wait(60):
        raise SystemExit("cellq record failed")
    (out / f"{policy}.json").write_text(json.dumps(counters(cellq)))
    (out / f"{policy}.agent.json").write_text(json.dumps(seen_by_agent(hosts)))
    run(f"{cellq} unload --name down")
    words = ["tc", "filter", "show", "dev", "down", "egress"]
    if run_and_say(words) or Path("/sys/fs/bpf/cellq").exists():
        raise SystemExit("unload left something behind")


def main(cellq: str, out: Path, policies: list[str], count: int, seconds: float) -> None:
    sink = make_sink(make_port())
    hosts = [make_host(i) for i in range(1, count + 1)]
    (out / "announce.list").write_text("".join(f"{pid} eth0\n" for pid in hosts))
    senders = [make_sender(pid) for pid in hosts]
    for policy in policies:
        trial(cellq, out, policy, count, partial(send, senders, seconds, random.Random(policy)))
        offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
        received = [(at - offset, length) for at, length in receive(sink)]
        (out / f"{policy}.sink.json").write_text(json.dumps(received))
        print(policy, flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[0], Path(words[1]), words[2].split(","), int(words[3]), float(words[4]))
