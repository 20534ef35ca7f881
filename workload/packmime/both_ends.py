# SPDX-License-Identifier: GPL-2.0-only
"""Compares the counts at both ends of a connection with each other and with the trace.

The client counts the bytes that it read. The server counts the bytes and the answers that it sent.
The server's kernel counts the bytes of first transmissions. These counts are independent.
"""

from collections.abc import Sequence
from typing import NamedTuple

from workload.packmime.carriers import Result, ServerResult
from workload.packmime.trace import Exchange

# No network can cause these states if the server works.
GARBLED, CLOSED = "garbled", "closed"

Exchanges = Sequence[tuple[Exchange, Result]]


class Client(NamedTuple):
    """What the trace and the client know of one connection: sums over its exchanges.

    done        exchanges that are complete
    closed      exchanges that the server ended before the last byte
    delays_ns   the server's waits, by the trace
    """

    exchanges: int
    done: int
    closed: int
    asked_bytes: int
    received_bytes: int
    delays_ns: int


def of_client(exchanges: Exchanges) -> Client:
    """Return the sums of one connection."""
    done = closed = asked = received = delays_ns = 0
    for row, result in exchanges:
        done += result.state == "done"
        closed += result.state == CLOSED
        asked += row.response_bytes
        received += result.received_bytes
        delays_ns += row.server_delay_ns
    return Client(len(exchanges), done, closed, asked, received, delays_ns)


def agree(client: Client, served: ServerResult | None) -> bool:
    """Return whether the counts of one connection fit each other.

    Each count is at most the count before it on the way from the trace to the client. So if the
    client has all bytes, all counts are equal.
    """
    received = client.received_bytes
    if served is None:
        return client.done == received == 0
    if served.state == GARBLED or client.closed:
        return False
    answers = client.done <= served.answered <= client.exchanges
    return answers and received <= served.carried_bytes <= served.sent_bytes <= client.asked_bytes
