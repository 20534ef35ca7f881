# SPDX-License-Identifier: GPL-2.0-only
"""Do both ends of a connection tell the same, and what the trace asked for?

The client counts what it read, the server what it gave and how often it answered, and the server's
kernel what it carried for the first time. None of them knows another's count.
"""

from collections.abc import Sequence

from workload.packmime.carriers import Result, ServerResult
from workload.packmime.trace import Exchange

# No network makes these of a server that does what it is asked.
GARBLED, CLOSED = "garbled", "closed"

Exchanges = Sequence[tuple[Exchange, Result]]


def agree(exchanges: Exchanges, served: ServerResult | None) -> bool:
    """Do the counts of one connection fit each other?

    Nobody has more than the one before gave him; so they are all equal where the client has all.
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
