#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""BBR where TCP itself paces, and where the queue fq does: a Mininet script.

    ./cellbed mininet --seed 1 studies/kernel_cc/fq.py 1

    h1 (fq or nothing) -- r: 20 Mbit/s, drop tail of one product --> h2
                          r <-- 40 ms for the acknowledgements ------ h2

It prints a line for each way of pacing and number of flows; its argument is the lab's seed. A host
of a lab's experiments has no fq: its card is a netem, which takes a packet from its socket.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from mininet.net import Mininet
from mininet.node import Node

RATE_MBIT, DELAY_MS, SECONDS, OMITTED_S = 20, 40, 20, 5
PRODUCT_BYTES = RATE_MBIT * 1_000_000 * DELAY_MS // 8_000
PACERS, FLOWS = ("TCP", "fq"), (1, 6)
HEADS = ("seed", "pacer", "flows", "goodput_mbit_per_s", "retransmits", "rtt_ms", "held_packets")
HELD = re.compile(r"throttled (\d+)")  # the flows that fq holds now, then all packets that it held


def network() -> Mininet:
    """A sender, a router with the link, and a receiver."""
    net = Mininet()
    h1 = net.addHost("h1", ip="10.0.1.1/24", defaultRoute="via 10.0.1.2")
    h2 = net.addHost("h2", ip="10.0.2.1/24", defaultRoute="via 10.0.2.2")
    router = net.addHost("r", ip=None)
    net.addLink(h1, router, params2={"ip": "10.0.1.2/24"})
    net.addLink(router, h2, params1={"ip": "10.0.2.2/24"})
    net.start()
    told(router, "sysctl -w net.ipv4.ip_forward=1")
    for host, device in ((h1, "h1-eth0"), (h2, "h2-eth0")):
        told(host, f"ip link set dev {device} gso_max_segs 1")
    limit = f"rate {RATE_MBIT}mbit burst 1600 limit {PRODUCT_BYTES}"
    told(router, f"tc qdisc add dev r-eth1 root tbf {limit}")
    told(router, f"tc qdisc add dev r-eth0 root netem limit 100000 delay {DELAY_MS}ms")
    told(h2, "iperf3 -s -D")
    return net


def told(host: Node, command: str) -> str:
    """The output of a command that succeeds on a host."""
    output = str(host.cmd(f"{command}; echo status=$?"))
    text, _, status = output.rpartition("status=")
    if status.strip() != "0":
        raise SystemExit(f"{host.name}: {command} failed: {text.strip()}")
    return text


def trial(net: Mininet, pacer: str, flows: int) -> Iterator[object]:
    """The figures of one transfer, as HEADS has them after the seed."""
    h1, h2 = net.get("h1"), net.get("h2")
    if pacer == "fq":
        told(h1, "tc qdisc replace dev h1-eth0 root fq")
    words = f"-C bbr -t {SECONDS} -O {OMITTED_S} -i 0.1 -P {flows} -J"
    found: dict[str, Any] = json.loads(told(h1, f"iperf3 -c {h2.IP()} {words}"))
    end = found["end"]
    rtts = [one["sender"]["mean_rtt"] / 1000 for one in end["streams"]]
    held = HELD.findall(told(h1, "tc -s qdisc show dev h1-eth0"))
    yield from (pacer, flows)
    yield f"{end['sum_received']['bits_per_second'] / 1e6:.4f}"
    yield end["sum_sent"]["retransmits"]
    yield f"{sum(rtts) / len(rtts):.3f}"
    yield held[-1] if held else 0
    if pacer == "fq":
        told(h1, "tc qdisc del dev h1-eth0 root")


def main() -> None:
    """Print the lines."""
    net = network()
    print(",".join(HEADS))
    for pacer in PACERS:
        for flows in FLOWS:
            print(",".join(map(str, [sys.argv[1], *trial(net, pacer, flows)])), flush=True)
    net.stop()


if __name__ == "__main__":
    main()
