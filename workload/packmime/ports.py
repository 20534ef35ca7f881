# SPDX-License-Identifier: GPL-2.0-only
"""The host and the ports of a connection.

The connections of a direction use its hosts in turn. On one host, no two connections have the same
pair of ports, and its first 50,000 connections use no port twice.
"""

FIRST_CLIENT_PORT = 10_000
CLIENT_PORTS = 50_000
FIRST_SERVER_PORT = 8_000
SERVER_PORTS = 16


def host(connection: int, hosts: int) -> int:
    """Return the host, from 0, of a connection's end."""
    return connection % hosts


def ports(connection: int, hosts: int) -> tuple[int, int]:
    """Return the client's and the server's port of a connection."""
    own = connection // hosts
    return FIRST_CLIENT_PORT + own % CLIENT_PORTS, FIRST_SERVER_PORT + own // CLIENT_PORTS
