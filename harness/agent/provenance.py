# SPDX-License-Identifier: GPL-2.0-only
"""What ran and how it was set: written into every record."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.agent.procfs import SYSCTL_BYTES, text
from topology import bpf
from topology.build import Network
from topology.run import in_namespace, run

IPV4 = Path("/proc/sys/net/ipv4")
CLOCK_MONOTONIC_COARSE = 6  # <linux/time.h>


def versions() -> dict[str, str]:
    """Kernel, how it runs the queues' programs where there are any, and packages that matter."""
    wanted = ("mininet", "openvswitch-switch", "iproute2", "nginx-light", "iperf3", "wrk", "clang")
    packages = dict(
        line.split(" ", 1) for line in Path("/etc/cellbed-packages").read_text().splitlines()
    )
    return {
        "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(),
        "hz": str(ticks_per_s()),
        **bpf_runs_as(bpf.programs()),
        **{name: packages[name] for name in wanted if name in packages},
    }


def ticks_per_s() -> int:
    """HZ: a coarse clock of the kernel moves on a tick at a time."""
    return round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE))


def bpf_runs_as(programs: Iterable[tuple[int, bool]]) -> dict[str, str]:
    """How this kernel runs the programs of our queues: "jit" or "interpreter"; none, no word.

    Args:
        programs: of all that are loaded the type, and whether it is compiled.
    """
    compiled = [compiled for kind, compiled in programs if kind == bpf.SCHED_CLS]
    return {"bpf": "jit" if all(compiled) else "interpreter"} if compiled else {}


def state(network: Network) -> dict[str, Any]:
    """TCP sysctls of the first server, qdiscs of the middle links, sockets in use."""
    with in_namespace(network.pids["s1"]):
        sysctls = {path.name: " ".join(text(path, SYSCTL_BYTES).split()) for path in _tcp_sysctls()}
        sockets = Path("/proc/net/sockstat").read_text().splitlines()
        route = run(["ip", "route", "show"]).strip()
    ports = [port for one in network.layout.middles() for port in one.devices.values()]
    return {"sysctls": sysctls, "sockets": sockets, "route": route, "qdiscs": qdiscs(ports)}


def qdiscs(ports: Sequence[str]) -> list[str]:
    """What tc says of the qdiscs of each device, as one process for each device would say it.

    Each device has a qdisc at its root, which tc shows first.
    """
    lines = "".join(f"qdisc show dev {port}\n" for port in ports)
    said = run(["tc", "-s", "-batch", "-"], lines)
    _, *shown = re.split(r"^(?=qdisc \S+ \S+ root )", said, flags=re.MULTILINE)
    return [one.strip() for one in shown]


def _tcp_sysctls() -> list[Path]:
    readable = [p for p in IPV4.glob("tcp_*") if p.stat().st_mode & 0o400]
    return sorted(readable) + sorted((IPV4 / "cellbed").glob("*"))
