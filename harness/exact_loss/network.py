# SPDX-License-Identifier: GPL-2.0-only
"""Sender - router - receiver in three network namespaces; runs inside the lab.

    sender 10.0.1.1 -- r0 [loss] router [loss] r1 -- 10.0.2.1 receiver

The router's r1 has the bottleneck (netem: rate and one-way delay), its r0 the delay of
the way back. A routed hop takes the segments off the sender's socket account, as a wire
would; nothing else in the sender's way holds them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from harness.exact_loss.job import Link

SENDER, RECEIVER = "10.0.1.1", "10.0.2.1"
QUEUE_PACKETS = 1_000_000


class Network:
    """Three namespaces, made anew; they vanish with the process."""

    def __init__(self, link: Link, loss_object: Path) -> None:
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.sender, self._router, self.receiver = (self._namespace() for _ in range(3))
        self._wire("s0", self.sender, "r0", SENDER, "10.0.1.254", link.mtu_bytes)
        self._wire("c0", self.receiver, "r1", RECEIVER, "10.0.2.254", link.mtu_bytes)
        with self.inside(self._router):
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
            delay = f"delay {link.delay_ns}ns limit {QUEUE_PACKETS}"
            _tc(f"qdisc add dev r1 root netem rate {link.rate_bit_per_s}bit {delay}")
            _tc(f"qdisc add dev r0 root netem {delay}")
            for device in ("r0", "r1"):
                _tc(f"qdisc add dev {device} clsact")
                _tc(f"filter add dev {device} ingress bpf direct-action obj {loss_object} sec tc")

    @contextmanager
    def inside(self, namespace: int) -> Iterator[None]:
        """Run a block in another network namespace."""
        os.setns(namespace, os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(self._home, os.CLONE_NEWNET)

    def route(self, namespace: int, metrics: dict[str, Any]) -> None:
        """Replace an end's route by one with these attributes (pyroute2's metrics)."""
        gateway = "10.0.1.254" if namespace == self.sender else "10.0.2.254"
        with self.inside(namespace), IPRoute() as ip:
            ip.route("replace", dst="default", gateway=gateway, metrics=metrics)

    def _namespace(self) -> int:
        os.unshare(os.CLONE_NEWNET)
        fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        with IPRoute() as ip:
            ip.link("set", index=1, state="up")
        os.setns(self._home, os.CLONE_NEWNET)
        return fd

    def _wire(
        self, name: str, namespace: int, far_name: str, address: str, far: str, mtu: int
    ) -> None:
        with self.inside(namespace), IPRoute() as ip:
            peer = {"ifname": far_name, "net_ns_fd": self._router}
            ip.link("add", ifname=name, kind="veth", peer=peer)
            mac = _configure(ip, name, address, mtu)
            with self.inside(self._router), IPRoute() as router:
                far_mac = _configure(router, far_name, far, mtu)
                _neighbour(router, far_name, address, mac)
            os.setns(namespace, os.CLONE_NEWNET)
            _neighbour(ip, name, far, far_mac)


def _configure(ip: IPRoute, name: str, address: str, mtu: int) -> str:
    index = ip.link_lookup(ifname=name)[0]
    ip.link("set", index=index, mtu=mtu, gso_max_segs=1, state="up")
    ip.addr("add", index=index, address=address, prefixlen=24)
    return str(ip.get_links(index)[0].get_attr("IFLA_ADDRESS"))


def _neighbour(ip: IPRoute, name: str, address: str, mac: str) -> None:
    index = ip.link_lookup(ifname=name)[0]
    ip.neigh("add", dst=address, lladdr=mac, ifindex=index, state=0x80)  # NUD_PERMANENT


def _tc(words: str) -> None:
    command = ["tc", *words.split()]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"tc {words}: {done.stderr.strip()}")
