# SPDX-License-Identifier: GPL-2.0-only
"""Draws both directions at the stated load.

A connection called "down" has responses in the direction down. The requests and acknowledgements of
connections called "up" use the same direction. Let a trace of length T have D connections down and
U connections up. Each direction of the link must carry load x rate x T. T alone satisfies only one
direction. So D and U are chosen to satisfy the other one, and with them the rates D/T and U/T.
These rates differ by some percent, because a single response may be a 30th of all bytes.

The model's shapes depend only weakly on its rate: a change of 10 % changes the Weibull shape of
gaps by 0.004. So the shapes are drawn for one rate: the rate at which connections of mean size
would offer the load. This rate is the same for both directions and all seeds. The gaps are then
scaled to D/T and U/T.
"""

from dataclasses import dataclass

import numpy as np

from workload.errors import WorkloadError
from workload.packmime import wire
from workload.packmime.draw import Connections, draw
from workload.packmime.marginals import IntArray
from workload.packmime.tables import FloatArray
from workload.packmime.traffic import Traffic

DIRECTIONS = ("down", "up")
TOLERANCE = 0.001  # of the offered load
EXCHANGES_TOLERANCE = 0.05
# Bytes on each direction from one connection of mean size each way.
MEAN_BYTES = {"1.0": 9000.0, "1.1": 10_000.0}


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A drawn load.

    down, up         the connections; the last one of each side starts at the trace's end
    duration_s       the trace's length [s]
    model_rate       the rate for which they were drawn [connections/s]
    offered_percent  the offered load of the link, down and up [%]
    """

    down: Connections
    up: Connections
    duration_s: float
    model_rate: float
    offered_percent: tuple[float, float]

    def starts_s(self) -> tuple[FloatArray, FloatArray]:
        """Return the starts of both sides, scaled to the trace's length [s]."""
        down, up = (s.start_s * (self.duration_s / s.start_s[-1]) for s in (self.down, self.up))
        down[-1] = up[-1] = self.duration_s  # the product may have a rounding error
        return down, up


def calibrate(params: Traffic, seed: int) -> Calibrated:
    """Draw a load of the stated size.

    Raises WorkloadError if no choice of connections loads both directions equally to within 0.1 %,
    and has the requested number of exchanges to within 5 %. This happens with few exchanges.
    """
    byte_per_s = params.load_percent / 100 * params.rate_bit_per_s / 8
    rate = byte_per_s / MEAN_BYTES[params.http]
    down, up = (draw(params, rate, params.exchanges, seed, name) for name in DIRECTIONS)
    counts = _balance(params, down, up)
    down, up = down.first(counts[0]), up.first(counts[1])
    loads = _direction_bytes(params, down, up)
    duration_s = sum(loads) / 2 / byte_per_s
    percent = [100 * 8 * load / duration_s / params.rate_bit_per_s for load in loads]
    found = Calibrated(
        down=down,
        up=up,
        duration_s=duration_s,
        model_rate=rate,
        offered_percent=(percent[0], percent[1]),
    )
    _check(params, found)
    return found


def _excess(params: Traffic, side: Connections) -> IntArray:
    """Return by how much the first n connections load their own direction more, for n = 1, 2, …"""
    sent = side.request_bytes, side.response_bytes
    more = wire.to_client(*sent, params) - wire.to_server(*sent, params)
    control = (wire.TO_CLIENT - wire.TO_SERVER) * wire.packet(0, params)
    return np.cumsum(wire.by_connection(more, side.exchanges) + control)


def _balance(params: Traffic, down: Connections, up: Connections) -> tuple[int, int]:
    """Return the number of connections to take of each side.

    For each number of down, take the number of up that loads both directions most equally. Among
    the pairs within the tolerance, return the one closest to the requested number of exchanges.
    """
    down_excess, up_excess = _excess(params, down), _excess(params, up)
    partner = _nearest(up_excess, down_excess)
    difference = np.abs(down_excess - up_excess[partner])
    pairs = np.cumsum(down.exchanges) + np.cumsum(up.exchanges)[partner]
    off = np.abs(pairs - params.exchanges)
    alike = difference <= TOLERANCE * MEAN_BYTES[params.http] * pairs
    best = int(np.lexsort((difference, off, ~alike))[0])
    return best + 1, int(partner[best]) + 1


def _nearest(values: IntArray, wanted: IntArray) -> IntArray:
    """Return for each wanted number the index of the nearest value."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    above = np.clip(np.searchsorted(ordered, wanted), 1, len(values) - 1)
    lower = wanted - ordered[above - 1] <= ordered[above] - wanted
    return np.asarray(order[np.where(lower, above - 1, above)])


def _direction_bytes(params: Traffic, down: Connections, up: Connections) -> tuple[int, int]:
    """Return the bytes in the direction down and in the direction up."""

    def both(side: Connections) -> tuple[int, int]:
        sent = side.request_bytes, side.response_bytes
        count = len(side.exchanges) * wire.packet(0, params)
        own = int(wire.to_client(*sent, params).sum()) + wire.TO_CLIENT * count
        return own, int(wire.to_server(*sent, params).sum()) + wire.TO_SERVER * count

    (down_own, down_other), (up_own, up_other) = both(down), both(up)
    return down_own + up_other, up_own + down_other


def _check(params: Traffic, found: Calibrated) -> None:
    exchanges = len(found.down.wait_ns) + len(found.up.wait_ns)
    loads_off = max(abs(p / params.load_percent - 1) for p in found.offered_percent)
    if loads_off > TOLERANCE or abs(exchanges / params.exchanges - 1) > EXCHANGES_TOLERANCE:
        down, up = found.offered_percent
        raise WorkloadError(
            f"workload.exchanges = {params.exchanges}: with this seed they are too few to offer"
            f" {params.load_percent:g} % in both directions (it would be {exchanges} exchanges"
            f" at {down:.2f} % and {up:.2f} %); choose more exchanges"
        )
