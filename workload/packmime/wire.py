# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that connections put on each direction of a link where nothing is lost.

    to the server   SYN, ACK, requests, an ACK a segment of the responses, FIN, ACK
    to the client   SYN/ACK, an ACK a segment of the requests, responses, FIN, ACK

Each segment is acknowledged at once, as Linux does on young connections, and ns-2's FullTcp always.
Offered load is what a network without losses would carry, so retransmissions have no place in it.
"""

import numpy as np

from .marginals import IntArray
from .parameters import Parameters

# Packets of a connection that carry no payload and acknowledge none.
TO_SERVER, TO_CLIENT = 4, 3


def _carried(own: IntArray, other: IntArray, params: Parameters) -> IntArray:
    """Return the bytes on the direction of `own`, and acknowledgements of `other`."""
    packets = -(-own // params.mss_bytes) - (-other // params.mss_bytes)
    return own + params.header_bytes * packets


def to_client(requests: IntArray, responses: IntArray, params: Parameters) -> IntArray:
    """Return for each exchange its bytes towards the client, without TO_CLIENT packets."""
    return _carried(responses, requests, params)


def to_server(requests: IntArray, responses: IntArray, params: Parameters) -> IntArray:
    """Return for each exchange its bytes towards the server, without TO_SERVER packets."""
    return _carried(requests, responses, params)


def by_connection(of_exchange: IntArray, exchanges: IntArray) -> IntArray:
    """Return the sums over each connection's exchanges; `exchanges` counts them."""
    first = np.concatenate(([0], np.cumsum(exchanges)[:-1]))
    return np.add.reduceat(of_exchange, first)
