# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that connections put on each direction of a link where nothing is lost.

    to the server   SYN, ACK, requests, an ACK per `segments_per_ack` segments of a response, FIN
    to the client   SYN/ACK, responses, the like ACKs of a request's segments after the first (which
                    the response acknowledges), FIN, ACK

Offered load is what a network without losses would carry, so retransmissions have no place in it.
"""

import numpy as np

from .marginals import IntArray
from .parameters import Parameters

# Packets of a connection that carry no payload and acknowledge none.
TO_SERVER, TO_CLIENT = 3, 3


def pieces(size: IntArray, of: int) -> IntArray:
    """Return how many pieces of at most `of` make up `size`."""
    return -(-size // of)


def to_client(requests: IntArray, responses: IntArray, params: Parameters) -> IntArray:
    """Return for each exchange its bytes towards the client, without TO_CLIENT packets."""
    own = pieces(responses, params.mss_bytes)
    acks = pieces(pieces(requests, params.mss_bytes) - 1, params.segments_per_ack)
    return responses + params.header_bytes * (own + acks)


def to_server(requests: IntArray, responses: IntArray, params: Parameters) -> IntArray:
    """Return for each exchange its bytes towards the server, without TO_SERVER packets."""
    own = pieces(requests, params.mss_bytes)
    acks = pieces(pieces(responses, params.mss_bytes), params.segments_per_ack)
    return requests + params.header_bytes * (own + acks)


def by_connection(of_exchange: IntArray, exchanges: IntArray) -> IntArray:
    """Return the sums over each connection's exchanges; `exchanges` counts them."""
    first = np.concatenate(([0], np.cumsum(exchanges)[:-1]))
    return np.add.reduceat(of_exchange, first)
