# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, as root: mm-link between two ends, with the settings of job.json.

    replay   UDP packets come to the link at given moments; a receiver notes when each arrives
    tcp      iperf3 sends over the link, with the delays behind it as in cellbed:

        server ns --access--> (this ns) mm-link (its ns) --delay--> client ns

The network of mm-link is in a namespace of its own. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WORK = Path("/tmp/mm-link")  # below /tmp, so that `--out` keeps what is written here
NOBODY = 65534
PORT = 9000
NS_PER_MS = 1_000_000
SO_TIMESTAMPNS = 35
TIME = struct.Struct("=qq")
NUMBER = struct.Struct(">I")
UDP_IP_BYTES = 28
PR_SET_TIMERSLACK = 29
QUIET_S = 30.0
LEAD_MS = 2000
UPLINK, DOWNLINK = WORK / "up.log", WORK / "down.log"
SERVER, CLIENT = ("s0", "10.9.1.2"), ("c0", "10.9.2.2")


def run(*words: str) -> str:
    """Run a command; return what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


def as_nobody() -> None:
    """Let a program begin as if a user had started it, and it belonged to root (setuid)."""
    os.setgroups([NOBODY])
    os.setresgid(NOBODY, 0, 0)
    os.setresuid(NOBODY, 0, 0)


def mm_link(queue: Sequence[str], *command: str) -> subprocess.Popen[bytes]:
    """Start mm-link with a command in its namespace; return when the command is ready."""
    link = [f"--uplink-log={UPLINK}", f"--downlink-log={DOWNLINK}", *queue]
    words = [str(WORK / "mm-link"), str(WORK / "trace.up"), str(WORK / "trace.down"), *link]
    program = subprocess.Popen([*words, *command], preexec_fn=as_nobody)
    while not (WORK / "ready").exists():
        if program.poll() is not None:
            raise RuntimeError(f"mm-link ended with the status {program.returncode}")
        time.sleep(0.05)
    return program


def begin_ns(period_ms: int) -> int:
    """Return the next time 0 of the trace by CLOCK_REALTIME, a while from now."""
    head = DOWNLINK.read_text()
    init, base = (
        int(re.search(rf"# {name} timestamp: (\d+)", head)[1])  # type: ignore[index]
        for name in ("init", "base")
    )
    zero = init + base
    soon = time.time_ns() // NS_PER_MS + LEAD_MS
    return (zero + -(-(soon - zero) // period_ms) * period_ms) * NS_PER_MS


def sleep_until(moment_ns: int) -> None:
    """Sleep until CLOCK_REALTIME is `moment_ns`; the float must not add a nanosecond."""
    time.sleep(max(0, moment_ns - time.time_ns() - 0.5) / 1e9)


def inner_address(link: subprocess.Popen[bytes]) -> str:
    """Return the address in mm-link's namespace."""
    [found] = json.loads(run("ip", "-j", "-4", "address", "show", "dev", f"link-{link.pid}"))
    return str(found["addr_info"][0]["address"])


def replay(job: dict[str, Any]) -> None:
    """Send packets of given sizes at given moments after a time 0 of the trace."""
    arrivals = job["arrivals"]
    link = mm_link([], sys.executable, str(WORK / "in_lab.py"), "receive", str(len(arrivals)))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((inner_address(link), PORT))
    at_ns = begin_ns(job["period_ms"])
    note(at_ns)
    for number, (offset_ns, ip_bytes) in enumerate(arrivals):
        sleep_until(at_ns + offset_ns)
        udp.send(NUMBER.pack(number).ljust(ip_bytes - UDP_IP_BYTES, b"\0"))
    link.wait()


def receive(count: int) -> None:
    """In mm-link's namespace: note when each packet arrives, until all have come or none comes."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    udp.bind(("0.0.0.0", PORT))
    (WORK / "ready").touch()
    with (WORK / "arrived.csv").open("w") as out:
        for _ in range(count):
            try:
                data, extra, _, _ = udp.recvmsg(2048, 64)
            except TimeoutError:
                break
            udp.settimeout(QUIET_S)
            seconds, ns = TIME.unpack_from(extra[0][2])
            out.write(f"{NUMBER.unpack_from(data)[0]},{seconds * 10**9 + ns}\n")


def hold() -> None:
    """In mm-link's namespace: tell who this is, and wait."""
    (WORK / "pid").write_text(str(os.getpid()))
    (WORK / "ready").touch()
    time.sleep(10**6)


def tcp(job: dict[str, Any]) -> None:
    """Let iperf3 send over the link from a time 0 of the trace on."""
    link = mm_link(job["queue"], sys.executable, str(WORK / "in_lab.py"), "hold")
    inside = ("nsenter", "-n", "-t", (WORK / "pid").read_text())
    network(job, link.pid, inside)
    listen = subprocess.Popen(["ip", "netns", "exec", "client", *job["listen"]], stdout=-3)
    time.sleep(1)
    at_ns = begin_ns(job["period_ms"])
    note(at_ns)
    sleep_until(at_ns)
    said = run("ip", "netns", "exec", "server", *job["source"], CLIENT[1])
    (WORK / "iperf3.json").write_text(said)
    listen.wait()
    link.terminate()
    link.wait()


def network(job: dict[str, Any], pid: int, inside: Sequence[str]) -> None:
    """Build both ends, with the access links and the delays behind the link."""
    for name in ("server", "client"):
        run("ip", "netns", "add", name)
        at = ("ip", "netns", "exec", name)
        run(*at, "ip", "link", "set", "lo", "up")
        for key, value in job["sysctl"].items():
            run(*at, "sysctl", "-q", "-w", f"net.ipv4.{key}={value}")
    veth = ("mtu", str(job["mtu"]), "gso_max_segs", "1", "type", "veth")
    peer = ("mtu", str(job["mtu"]), "gso_max_segs", "1")
    run("ip", "link", "add", "s1", *veth, "peer", "name", "s0", *peer, "netns", "server")
    run("ip", "link", "add", "c1", *veth, "peer", "name", "c0", *peer, "netns", "client")
    run("ip", "link", "set", "c1", "netns", inside[-1])
    run(*inside, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    end((), "s1", "10.9.1.1", job["delay"])
    end(inside, "c1", "10.9.2.1", job["delay"])
    end(("ip", "netns", "exec", "server"), *SERVER, job["access"])
    end(("ip", "netns", "exec", "client"), *CLIENT, job["access"])
    run("ip", "route", "add", "10.9.2.0/24", "dev", f"link-{pid}")
    for name, gateway in (("server", "10.9.1.1"), ("client", "10.9.2.1")):
        route = ("default", "via", gateway, "window", str(job["window_bytes"]))
        run("ip", "-n", name, "route", "add", *route)


def end(at: Sequence[str], device: str, address: str, netem: str) -> None:
    """Give a device its address, and netem, in the namespace of a prefix of commands."""
    run(*at, "ip", "address", "add", f"{address}/24", "dev", device)
    run(*at, "ip", "link", "set", device, "up")
    run(*at, "tc", "qdisc", "replace", "dev", device, "root", "netem", *netem.split())


def note(at_ns: int) -> None:
    """Write down the time 0 at which the packets begin."""
    (WORK / "begin").write_text(str(at_ns))


def main() -> None:
    if sys.argv[1:2] == ["receive"]:
        return receive(int(sys.argv[2]))
    if sys.argv[1:2] == ["hold"]:
        return hold()
    WORK.mkdir()
    WORK.chmod(0o777)
    for file in HERE.iterdir():
        if file.is_file():
            shutil.copy(file, WORK)
            (WORK / file.name).chmod(0o755)
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    # A device with IPv6 sends packets of its own over the link.
    run("sysctl", "-q", "-w", "net.ipv6.conf.default.disable_ipv6=1")
    job = json.loads((HERE / "job.json").read_text())
    return replay(job) if job["kind"] == "replay" else tcp(job)


if __name__ == "__main__":
    main()
