# SPDX-License-Identifier: GPL-2.0-only
"""nginx on every server host: one process, with a listening socket in each host's namespace.

With one process for each host, starting and ending them cost more than a hundred virtual seconds of
traffic. The same bytes left at the same moments: nginx does not see namespaces, and each connection
stays in the namespace of its socket.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from workload import nginx, specweb
from workload.source import Programs, Testbed

DOCROOT = Path("/tmp/docroot")
RUN_DIR = Path("/tmp/nginx")
PORT = 80
CONNECTIONS_A_HOST = 64
FEWEST_CONNECTIONS = 64
MOST_CONNECTIONS = 65535


@cache
def documents() -> Path:
    """Return the folder of all servers' files (specweb.py); the first call in a lab makes it."""
    specweb.write(DOCROOT)
    return DOCROOT


def start_server(
    testbed: Testbed,
    programs: Programs,
    *,
    joined: bool = False,
    docroot: Path | None = None,
    connections_a_host: int = CONNECTIONS_A_HOST,
) -> nginx.Server:
    """Start nginx and wait until it listens on every server host.

    joined: an answer is one stream, and the ACK of its request leaves with the answer. The kernel
    delays such an ACK unless the route forbids it (quickack).
    docroot: the folder of the servers' files [documents()].
    connections_a_host: at most, with the listening socket. nginx fills memory for all of them.
    """
    hosts = testbed.servers
    server = nginx.Server(
        run_dir=RUN_DIR,
        docroot=docroot or documents(),
        port=PORT,
        addresses=tuple(host.ip for host in hosts),
        connections=connections_of(len(hosts), connections_a_host),
        joined=joined,
    )
    nginx.write(server)
    with ExitStack() as until_started:
        ends = [
            until_started.enter_context(listening(testbed, testbed.server_pid(host.pair), host.ip))
            for host in hosts
        ]
        if joined:
            for end in ends:
                # Connections inherit this option: they need not acknowledge at once.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
                # nginx does not set it on connections that it corks (tcp_nopush).
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        descriptors = [end.fileno() for end in ends]
        programs.start(
            testbed.server_pid(hosts[0].pair),
            nginx.argv(server),
            nginx.inheriting(descriptors),
            descriptors,
        )
    testbed.wait_until(server.pid_path.exists, "nginx")
    return server


def connections_of(hosts: int, a_host: int) -> int:
    """Return how many connections nginx has at most."""
    return min(max(a_host * hosts, FEWEST_CONNECTIONS), MOST_CONNECTIONS)


def listening(testbed: Testbed, pid: int, address: str) -> socket.socket:
    """Return a listening socket in the namespace of a process."""
    with testbed.inside(pid):
        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    end.bind((address, PORT))
    end.listen(nginx.BACKLOG)
    return end


def complaints(server: nginx.Server) -> list[str]:
    """Return the first lines of the server's error log; empty after a good trial."""
    log = server.error_log_path
    return log.read_text().splitlines()[:20] if log.exists() else []
