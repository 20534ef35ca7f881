# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: TCP from many hosts through one cell queue (Show 2).

    host i eth0 --netem: access link--> port i --mark i--> down --> sink (one host)
    the ACKs: sink --netem: 10 ms--> down --by address--> port i --> host i

Usage: lab_tcp.py CELLQ OUT_DIRECTORY POLICY,POLICY... HOSTS SECONDS

Every host sends all the time, MSS 1024, whatever congestion control the kernel has.
Leaves POLICY.rec, POLICY.json and POLICY.agent.json as lab_traffic.py does.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from functools import partial
from pathlib import Path

from lab_traffic import inside, mac, make_host, make_port, run, socket_in, trial

MTU = 1064
SINK = "10.9.9.9"
NO_OFFLOAD = "tso off gso off gro off"


def make_tcp_host(i: int) -> int:
    """A host that sends one frame a packet, and the way back to it."""
    pid = make_host(i, MTU)
    inside(pid, "ip link set dev eth0 gso_max_segs 1")
    inside(pid, f"ethtool -K eth0 {NO_OFFLOAD}")
    run(f"ethtool -K port{i} {NO_OFFLOAD}")
    run(f"tc filter add dev down ingress protocol ip flower dst_ip 10.2.{i >> 8}.{i & 255} "
        f"action mirred egress redirect dev port{i}")  # fmt: skip
    return pid


def make_tcp_sink(pid: int, hosts: int) -> None:
    """The one receiver: its address, its neighbours, its delay."""
    inside(pid, f"ip link set dev sink address 02:00:00:00:00:09 mtu {MTU}")
    inside(pid, f"ip addr add {SINK}/8 dev sink")
    inside(pid, f"ethtool -K sink {NO_OFFLOAD}")
    inside(pid, "tc qdisc add dev sink root netem limit 100000 delay 10ms")
    for i in range(1, hosts + 1):
        inside(pid, f"ip neigh add 10.2.{i >> 8}.{i & 255} lladdr {mac(i)} dev sink")
    run("tc qdisc add dev down clsact")
    run(f"ethtool -K down {NO_OFFLOAD}")


def send(hosts: list[int], sink: int, port: int, seconds: float) -> None:
    """One connection a host, as much as TCP lets through, then time to drain."""
    listener = socket_in(sink, socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((SINK, port))
    listener.listen(len(hosts))
    poll, ends, data = select.epoll(), {}, bytes(1 << 16)
    for pid in hosts:
        sender = socket_in(pid, socket.AF_INET, socket.SOCK_STREAM)
        sender.connect((SINK, port))
        receiver, _ = listener.accept()
        for end, wanted in ((sender, select.EPOLLOUT), (receiver, select.EPOLLIN)):
            end.setblocking(False)
            ends[end.fileno()] = end
            poll.register(end, wanted)
        # One after the other: 100 windows at the same tick would lose a cell of
        # every frame, and 100 retransmission timers would do it again, for ever.
        sender.send(data)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for number, event in poll.poll(0.1):
            if event & select.EPOLLIN:
                ends[number].recv(1 << 20)
            elif event & select.EPOLLOUT:
                ends[number].send(data)
    for end in ends.values():
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset
        end.close()
    time.sleep(2)


def main(cellq: str, out: Path, policies: list[str], count: int, seconds: float) -> None:
    sink = make_port()
    make_tcp_sink(sink, count)
    hosts = [make_tcp_host(i) for i in range(1, count + 1)]
    (out / "announce.list").write_text("".join(f"{pid} eth0\n" for pid in hosts))
    for number, policy in enumerate(policies):
        trial(cellq, out, policy, count, partial(send, hosts, sink, 5001 + number, seconds))
        print(policy, flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[0], Path(words[1]), words[2].split(","), int(words[3]), float(words[4]))
