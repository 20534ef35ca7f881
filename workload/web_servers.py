# SPDX-License-Identifier: GPL-2.0-only
"""nginx on every server host."""

from __future__ import annotations

from pathlib import Path

from . import nginx
from .source import Programs, Testbed

DOCROOT = Path("/tmp/docroot")
PORT = 80


def start_servers(testbed: Testbed, programs: Programs) -> list[nginx.Server]:
    """Start one nginx a server host and wait until all listen."""
    servers = []
    for host in testbed.servers:
        run_dir = Path(f"/tmp/nginx/s{host.pair}")
        server = nginx.Server(run_dir=run_dir, docroot=DOCROOT, port=PORT)
        nginx.write(server)
        programs.start(testbed.server_pid(host.pair), nginx.argv(server))
        servers.append(server)
    testbed.wait_until(lambda: all(s.pid_path.exists() for s in servers), "nginx")
    return servers


def complaints(servers: list[nginx.Server]) -> list[str]:
    """The first lines of the servers' error logs; empty after a good trial."""
    logs = [s.error_log_path for s in servers if s.error_log_path.exists()]
    return [line for log in logs for line in log.read_text().splitlines()[:3]][:20]
