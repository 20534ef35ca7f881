# SPDX-License-Identifier: GPL-2.0-only
"""Bytes that connections put on each direction of a link if no packet is lost.

    to the server   SYN, ACK, requests, one ACK per segment of the responses, FIN, ACK
    to the client   SYN/ACK, one ACK per segment of the requests, responses, FIN, ACK

Each segment is acknowledged at once, as Linux does on young connections and ns-2's FullTcp always
does. The offered load is the traffic of a network without losses, so it has no retransmissions.
"""

from typing import TypeVar

import numpy as np

from plan.atm import AAL5_OVERHEAD_BYTES, CELL_BYTES, CELL_PAYLOAD_BYTES
from workload.packmime.marginals import IntArray
from workload.packmime.traffic import Traffic

# Packets of a connection that neither carry nor acknowledge payload.
TO_SERVER, TO_CLIENT = 4, 3
Payload = TypeVar("Payload", int, IntArray)


def _carried(own: IntArray, other: IntArray, params: Traffic) -> IntArray:
    """Return the bytes of the data `own` plus the acknowledgements of the data `other`."""
    whole, rest = np.divmod(own, params.mss_bytes)
    acknowledgements = -(-other // params.mss_bytes)
    return (
        whole * packet(params.mss_bytes, params)
        + np.where(rest, packet(rest, params), 0)
        + acknowledgements * packet(0, params)
    )


def packet(payload: Payload, params: Traffic) -> Payload:
    """Return the bytes of a packet on the link."""
    sent = payload + params.header_bytes
    return (
        -(-(sent + AAL5_OVERHEAD_BYTES) // CELL_PAYLOAD_BYTES) * CELL_BYTES
        if params.cells
        else sent
    )


def to_client(requests: IntArray, responses: IntArray, params: Traffic) -> IntArray:
    """Return for each exchange its bytes towards the client, without the TO_CLIENT packets."""
    return _carried(responses, requests, params)


def to_server(requests: IntArray, responses: IntArray, params: Traffic) -> IntArray:
    """Return for each exchange its bytes towards the server, without the TO_SERVER packets."""
    return _carried(requests, responses, params)


def by_connection(of_exchange: IntArray, exchanges: IntArray) -> IntArray:
    """Return the sum over each connection's exchanges; `exchanges` has their number."""
    first = np.concatenate(([0], np.cumsum(exchanges)[:-1]))
    return np.add.reduceat(of_exchange, first)
