# SPDX-License-Identifier: GPL-2.0-only
"""Draws the connections of one direction, as columns."""

from dataclasses import dataclass

import numpy as np

from workload.packmime import marginals, persistent
from workload.packmime.fsd import uniforms
from workload.packmime.marginals import IntArray
from workload.packmime.tables import FloatArray
from workload.packmime.traffic import Traffic

US_PER_S = 1_000_000
MS_PER_S = 1_000
NS_PER_US = 1_000


@dataclass(frozen=True, kw_only=True)
class Connections:
    """Connections in the order of their starts, and all their exchanges one after the other.

    One value for each connection:
        start_s           start since the beginning of the trace [s], at the rate of the draw
        round_trip_ns     [ns]
        exchanges         number of request-response pairs
    One value for each exchange:
        wait_ns           0 for a first exchange; else since the last byte of the last response [ns]
        request_bytes, response_bytes
        server_delay_ns   from the request's last byte to the response [ns]
    """

    start_s: FloatArray
    round_trip_ns: IntArray
    exchanges: IntArray
    wait_ns: IntArray
    request_bytes: IntArray
    server_delay_ns: IntArray
    response_bytes: IntArray

    def first(self, count: int) -> "Connections":
        """Return the first `count` connections."""
        pairs = int(self.exchanges[:count].sum())
        return Connections(
            start_s=self.start_s[:count],
            round_trip_ns=self.round_trip_ns[:count],
            exchanges=self.exchanges[:count],
            wait_ns=self.wait_ns[:pairs],
            request_bytes=self.request_bytes[:pairs],
            server_delay_ns=self.server_delay_ns[:pairs],
            response_bytes=self.response_bytes[:pairs],
        )


def draw(params: Traffic, rate: float, count: int, seed: int, direction: str) -> Connections:
    """Draw `count` connections at the model's `rate` from the streams of a seed and direction."""
    names = (seed, direction)
    round_trip_ms = marginals.draw_round_trip_ms(rate, count, *names)
    round_trip_s = np.minimum(round_trip_ms, params.round_trip_max_ms) / MS_PER_S
    plain = Connections(
        start_s=np.cumsum(marginals.draw_gaps_s(rate, count, *names)),
        round_trip_ns=whole_us(round_trip_s),
        exchanges=np.ones(count, dtype=np.int64),
        wait_ns=np.zeros(count, dtype=np.int64),
        request_bytes=marginals.draw_request_bytes(rate, count, *names),
        server_delay_ns=whole_us(marginals.draw_server_delay_s(count, *names)),
        response_bytes=marginals.draw_response_bytes(rate, count, *names),
    )
    return plain if params.http == "1.0" else _with_persistent(plain, seed, direction)


def whole_us(seconds: FloatArray) -> IntArray:
    """Return times [s] as nanoseconds, rounded to whole microseconds.

    Finer digits would depend on the machine's logarithm function.
    """
    return np.rint(seconds * US_PER_S).astype(np.int64) * NS_PER_US


def _with_persistent(plain: Connections, seed: int, direction: str) -> Connections:
    """Add the further exchanges of persistent connections."""
    chosen = uniforms(seed, len(plain.exchanges), direction, "persistent")
    more: list[tuple[int, persistent.Next]] = []
    for number in np.flatnonzero(chosen < persistent.PERSISTENT_SHARE):
        first = int(plain.response_bytes[number])
        found = persistent.following(seed, first, direction, "persistent", int(number))
        more += [(int(number), exchange) for exchange in found]
    of = np.array([number for number, _ in more], dtype=np.int64)

    def column(first: IntArray, further: IntArray) -> IntArray:
        # np.insert keeps the order of values for one place: behind the connection's first.
        return np.insert(first, of + 1, further)

    waits_s = np.array([x.wait_s for _, x in more])
    delays_s = np.array([x.server_delay_s for _, x in more])
    responses = np.array([x.response_bytes for _, x in more], dtype=np.int64)
    return Connections(
        start_s=plain.start_s,
        round_trip_ns=plain.round_trip_ns,
        exchanges=plain.exchanges + np.bincount(of, minlength=len(plain.exchanges)),
        wait_ns=column(plain.wait_ns, whole_us(waits_s)),
        request_bytes=column(plain.request_bytes, plain.request_bytes[of]),
        server_delay_ns=column(plain.server_delay_ns, whole_us(delays_s)),
        response_bytes=column(plain.response_bytes, responses),
    )
