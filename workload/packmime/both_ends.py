# SPDX-License-Identifier: GPL-2.0-only
"""Compares the counts at both ends of a connection with each other and with the trace.

The client counts the bytes that it read. The server counts the bytes and the answers that it sent.
The server's kernel counts the bytes of first transmissions. These counts are independent.
"""

from collections.abc import Sequence

from workload.packmime.carriers import Result, ServerResult
from workload.packmime.trace import Exchange

# No network can cause these states if the server works.
GARBLED, CLOSED = "garbled", "closed"

Exchanges = Sequence[tuple[Exchange, Result]]


def agree(exchanges: Exchanges, served: ServerResult | None) -> bool:
    """Return whether the counts of one connection fit each other.

    Each count is at most the count before it on the way from the trace to the client. So if the
    client has all bytes, all counts are equal.
    """
    done = sum(result.state == "done" for _, result in exchanges)
    received = sum(result.received_bytes for _, result in exchanges)
    asked = sum(row.response_bytes for row, _ in exchanges)
    if served is None:
        return done == received == 0
    if served.state == GARBLED or any(result.state == CLOSED for _, result in exchanges):
        return False
    answers = done <= served.answered <= len(exchanges)
    return answers and received <= served.carried_bytes <= served.sent_bytes <= asked
