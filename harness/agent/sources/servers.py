# SPDX-License-Identifier: GPL-2.0-only
"""nginx on every server host."""

from __future__ import annotations

from pathlib import Path

from harness.agent.daemons import Daemons, wait_until
from topology.build import Network
from workload import nginx

DOCROOT = Path("/tmp/docroot")
PORT = 80


def start_servers(network: Network, daemons: Daemons) -> list[nginx.Server]:
    """Start one nginx a server host and wait until all listen."""
    servers = []
    for host in network.dumbbell.servers():
        server = nginx.Server(run_dir=Path(f"/tmp/nginx/{host.name}"), docroot=DOCROOT, port=PORT)
        nginx.write(server)
        daemons.start(network.pids[host.name], nginx.argv(server))
        servers.append(server)
    wait_until(lambda: all(s.pid_path.exists() for s in servers), "nginx")
    return servers


def complaints(servers: list[nginx.Server]) -> list[str]:
    """The first lines of the servers' error logs; empty after a good trial."""
    logs = [s.error_log_path for s in servers if s.error_log_path.exists()]
    return [line for log in logs for line in log.read_text().splitlines()[:3]][:20]
