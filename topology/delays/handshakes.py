# SPDX-License-Identifier: GPL-2.0-only
"""Do connections have the round trips they were given? Their handshakes tell.

From before connect() until it is established a connection takes its own round trip, the way of a
SYN and its answer over the links, and what both waited in queues. Only the last differs between
connections, and it is never negative: so over many the shortest excess is the links' part, and
none is below it.
"""

from __future__ import annotations

from collections.abc import Iterable


def shortest_excess_ns(handshakes: Iterable[tuple[int, int]]) -> int | None:
    """Return the least of handshake less round trip [ns] over (handshake, round trip) pairs.

    None where there is no pair. Of a trial it must be the idle links' part for a SYN and its
    answer, or a little more where the queues never were empty; less means that a connection
    had another round trip than its own.
    """
    return min((took_ns - own_ns for took_ns, own_ns in handshakes), default=None)
