# SPDX-License-Identifier: GPL-2.0-only
"""What ran and how it was set: written into every record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.agent.procfs import SYSCTL_BYTES, text
from topology import commands
from topology.build import Network
from topology.run import in_namespace, run

IPV4 = Path("/proc/sys/net/ipv4")


def versions() -> dict[str, str]:
    """Kernel, and the image's packages that matter."""
    wanted = ("mininet", "openvswitch-switch", "iproute2", "nginx-light", "iperf3", "wrk", "clang")
    packages = dict(
        line.split(" ", 1) for line in Path("/etc/cellbed-packages").read_text().splitlines()
    )
    return {
        "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(),
        "bpf": bpf_runs_as(),
        **{name: packages[name] for name in wanted if name in packages},
    }


def bpf_runs_as() -> str:
    """How this kernel runs the queues' programs, which are loaded: "jit" or "interpreter"."""
    programs = json.loads(run(["bpftool", "-j", "prog", "show"]))
    compiled = [bool(p["jited"]) for p in programs if p["type"] == "sched_cls"]
    return "jit" if compiled and all(compiled) else "interpreter"


def state(network: Network) -> dict[str, Any]:
    """TCP sysctls of the first server, qdiscs of the middle, sockets in use."""
    with in_namespace(network.pids["s1"]):
        sysctls = {path.name: " ".join(text(path, SYSCTL_BYTES).split()) for path in _tcp_sysctls()}
        sockets = Path("/proc/net/sockstat").read_text().splitlines()
        route = run(["ip", "route", "show"]).strip()
    middle = [
        run(["tc", "-s", "qdisc", "show", "dev", port]).strip()
        for port in (commands.DOWN_PORT, commands.UP_PORT)
    ]
    return {"sysctls": sysctls, "sockets": sockets, "route": route, "qdiscs": middle}


def _tcp_sysctls() -> list[Path]:
    readable = [p for p in IPV4.glob("tcp_*") if p.stat().st_mode & 0o400]
    return sorted(readable) + sorted((IPV4 / "cellbed").glob("*"))
