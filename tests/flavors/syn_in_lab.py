# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_flavor_handshake.py: SYNs that nobody answers.

Usage: syn_in_lab.py JOB.json RESULT.json. JOB: {"flavors": [Flavor.as_dict(), ...], "for_s": how
long each connects}. RESULT: for each flavor [[seconds since its first SYN, it asks for ECN], ...].
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from typing import Any

sys.path.insert(0, "/cellbed")

from harness.agent import flavor as agent_flavor  # noqa: E402
from plan import plan  # noqa: E402
from tests.flavors.answering import answer  # noqa: E402

MODULE = "/opt/cellbed/cellbed_tcp.ko"
OWN, NOBODY = "10.0.0.1", "10.0.0.2"
NS_PER_S = 1_000_000_000
ETH_P_IP = 0x0800
FLAGS = 14 + 20 + 13  # Ethernet and IP before it, and what of TCP comes first
SYN, ECE, CWR = 0x02, 0x40, 0x80


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, timeout=60)


def syns(flavor: dict[str, Any], for_s: float) -> list[tuple[float, bool]]:
    """In a namespace of its own, on a wire whose far end hears and says nothing."""
    os.unshare(os.CLONE_NEWNET)
    ip("link add e0 type veth peer name far")
    ip(f"addr add {OWN}/24 dev e0")
    ip("link set e0 up")
    ip("link set far up")
    ip(f"neigh add {NOBODY} lladdr 02:00:00:00:00:02 dev e0")
    agent_flavor.apply(plan.part(plan.Flavor, flavor))
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    wire.bind(("far", ETH_P_IP))
    caller = socket.socket()
    caller.setblocking(False)
    caller.connect_ex((NOBODY, 80))
    begun_ns, seen = time.monotonic_ns(), []
    while (left_ns := begun_ns + round(for_s * NS_PER_S) - time.monotonic_ns()) > 0:
        if select.select([wire], [], [], left_ns / NS_PER_S)[0]:
            flags = wire.recv(2048)[FLAGS]
            if flags & SYN:
                asks = flags & (ECE | CWR) == ECE | CWR
                seen.append(((time.monotonic_ns() - begun_ns) / NS_PER_S, asks))
    return seen


def run(job: Any) -> Any:
    subprocess.run(["insmod", MODULE], check=True, timeout=60)
    return [syns(flavor, job["for_s"]) for flavor in job["flavors"]]


if __name__ == "__main__":
    answer(run)
