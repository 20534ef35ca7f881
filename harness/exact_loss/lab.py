# SPDX-License-Identifier: GPL-2.0-only
"""Runs TCP connections with exact losses inside the lab, and ends the lab.

Usage: python3 -m harness.exact_loss.lab JOB.json RESULT.jsonl

JOB.json is a job.Job. What set-up compiled is in /opt/cellbed.

RESULT.jsonl, a line a connection: {"id", "start_ns", "finished": all acknowledged in time,
"data": [[time_ns, byte, length, sending, dropped], ...],
"acks": [[time_ns, bytes acknowledged, bytes SACKed], ...], "counters": {...}, "info": {...}};
or {"error": one line} when something failed.
"""

from __future__ import annotations

import fcntl
import json
import select
import socket
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.agent import flavor as agent_flavor
from harness.agent import module
from harness.agent.power_off import power_off
from harness.agent.tune_plan import whole
from harness.exact_loss.job import Connection, LossJob
from harness.exact_loss.maps import LossMaps
from harness.exact_loss.network import RECEIVER, SENDER, Network
from plan import schema
from plan.plan import Flavor

PROGRAMS = Path("/opt/cellbed")
PORT = 5001
BUFFER_BYTES = 1 << 24
POLL_NS = 50_000_000
CLOSE_NS = 1_000_000_000
TCP_CC_INFO = 26
CC_INFO = struct.Struct("4I")
COUNTERS = {
    "timeouts": "TCPTimeouts",
    "reno_recoveries": "TCPRenoRecovery",
    "sack_recoveries": "TCPSackRecovery",
    "refused_retransmissions": "TCPSpuriousRtxHostQueues",
}


def main() -> None:
    try:
        run_job(Path(sys.argv[1]), Path(sys.argv[2]))
    except Exception as error:  # noqa: BLE001 (told to who waits for the results)
        with Path(sys.argv[2]).open("a", encoding="utf-8") as results:
            results.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
    power_off()


def run_job(job_path: Path, result_path: Path) -> None:
    job = schema.from_json(LossJob, json.loads(job_path.read_text()), "job")
    for name in job.modules:
        module.load(name)
    network = Network(job.link, PROGRAMS / "loss.bpf.o")
    maps = LossMaps()
    with result_path.open("w", encoding="utf-8") as results:
        applied = None
        for wanted in job.connections:
            if wanted.flavor != applied:
                set_flavor(network, wanted.flavor)
                applied = wanted.flavor
            results.write(json.dumps(connection(network, maps, wanted)) + "\n")
            results.flush()
    refuse_kernel_warnings()


def refuse_kernel_warnings() -> None:
    """A sender that upset the kernel has shown nothing, whatever it sent."""
    log = subprocess.run(["dmesg"], check=True, capture_output=True, text=True, timeout=60).stdout
    for line in log.splitlines():
        if "WARNING:" in line or "BUG:" in line:
            raise RuntimeError(f"the kernel says: {line.strip()}")


def set_flavor(network: Network, flavor: Flavor) -> None:
    """Both ends; the buffers are the same for all."""
    for namespace in (network.sender, network.receiver):
        with network.inside(namespace):
            agent_flavor.apply(replace(flavor, parameters=whole(flavor.parameters)))
            ipv4 = Path("/proc/sys/net/ipv4")
            for name in ("tcp_rmem", "tcp_wmem"):
                (ipv4 / name).write_text(f"4096 {BUFFER_BYTES} {4 * BUFFER_BYTES}")


def set_routes(network: Network, wanted: Connection) -> None:
    route = wanted.flavor.route
    ends = ((network.sender, route["server"]), (network.receiver, route["client"]))
    for namespace, attributes in ends:
        metrics = {k: attributes[k] for k in ("initrwnd", "quickack") if k in attributes}
        if "rto_min_ms" in attributes:
            metrics["rto_min"] = attributes["rto_min_ms"]
        if wanted.initcwnd is not None:
            metrics["initcwnd"] = wanted.initcwnd
        if wanted.ssthresh is not None:
            metrics["ssthresh"] = wanted.ssthresh
        network.route(namespace, metrics)


def connection(network: Network, maps: LossMaps, wanted: Connection) -> dict[str, Any]:
    """One connection: opened by the receiver, written to by the sender as scheduled."""
    set_routes(network, wanted)
    maps.arm(
        port=PORT, payload=wanted.payload_bytes, drops=wanted.drops, marks=wanted.marks
    )  # fmt: skip
    before = counters(network)
    sender, receiver = open_pair(network)
    start_ns = time.monotonic_ns()
    finished = transfer(sender, receiver, wanted, start_ns)
    info = tcp_info(sender)
    close_pair(sender, receiver)
    after = counters(network)
    recorded = maps.read()
    return {
        "id": wanted.id,
        "start_ns": start_ns,
        "finished": finished,
        "data": [[e.time_ns, e.byte, e.length, e.sending, e.dropped] for e in recorded if e.data],
        "acks": [[e.time_ns, e.byte, e.sacked] for e in recorded if not e.data],
        "counters": {name: after[name] - before[name] for name in COUNTERS},
        "info": info,
    }


def open_pair(network: Network) -> tuple[socket.socket, socket.socket]:
    with network.inside(network.sender):
        listener = socket.create_server((SENDER, PORT))
    with network.inside(network.receiver):
        receiver = socket.socket()
    receiver.bind((RECEIVER, 0))
    receiver.connect((SENDER, PORT))
    sender, _ = listener.accept()
    listener.close()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sender.setblocking(False)
    receiver.setblocking(False)
    return sender, receiver


def close_pair(sender: socket.socket, receiver: socket.socket) -> None:
    """By reset: no TIME_WAIT, and nothing of this connection is left in the network."""
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sender.close()
    select.select([receiver], [], [], CLOSE_NS / 1e9)
    time.sleep(CLOSE_NS / 1e9)
    receiver.close()


def transfer(
    sender: socket.socket, receiver: socket.socket, wanted: Connection, start_ns: int
) -> bool:
    """Write as scheduled, read at once; True when all was acknowledged within the limit."""
    writes = [(start_ns + at, size) for at, size in wanted.writes]
    end_ns = start_ns + wanted.limit_ns
    while (now := time.monotonic_ns()) < end_ns:
        while writes and writes[0][0] <= now:
            size = writes.pop(0)[1]
            if sender.send(bytes(size)) != size:
                raise RuntimeError(f"a write of {size} bytes does not fit the send buffer")
        if not writes and unacknowledged(sender) == 0:
            return True
        wait_ns = min([POLL_NS, end_ns - now, *(at - now for at, _ in writes[:1])])
        if select.select([receiver], [], [], max(wait_ns, 0) / 1e9)[0]:
            while len(read(receiver)) == BUFFER_BYTES:
                pass
    return False


def read(receiver: socket.socket) -> bytes:
    try:
        return receiver.recv(BUFFER_BYTES)
    except BlockingIOError:
        return b""


def unacknowledged(sender: socket.socket) -> int:
    return struct.unpack("i", fcntl.ioctl(sender, termios.TIOCOUTQ, b"\0" * 4))[0]  # type: ignore[no-any-return]


def tcp_info(sender: socket.socket) -> dict[str, int]:
    """Fields of struct tcp_info that a check may want; RTO and RTT in microseconds.

    window_bytes: the module's congestion window; 0 of another sender, whose window is cwnd.
    """
    raw = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    words = struct.unpack("8x24I", raw)
    return {
        "rto_us": words[0],
        "ssthresh": words[17],
        "cwnd": words[18],
        "rtt_us": words[15],
        "total_retrans": words[23],
        "window_bytes": (window(sender) or {"bytes": 0})["bytes"],
    }


def window(sender: socket.socket) -> dict[str, int] | None:
    """The congestion window as the module tells it (cellbed.h); None of another sender."""
    raw = sender.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, CC_INFO.size)
    if not raw:
        return None
    _, size, unit, mss = CC_INFO.unpack(raw)
    return {"bytes": size, "unit": unit, "mss": mss}


def counters(network: Network) -> dict[str, int]:
    """Of the sender's namespace."""
    with network.inside(network.sender):
        text = Path("/proc/net/netstat").read_text()
    names, values = (line.split()[1:] for line in text.splitlines()[:2])
    read = dict(zip(names, (int(v) for v in values), strict=True))
    return {name: read[key] for name, key in COUNTERS.items()}


if __name__ == "__main__":
    main()
