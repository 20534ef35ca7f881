# SPDX-License-Identifier: GPL-2.0-only
"""Throughput, demand, max-min fair share, efficiency and fairness of one trial.

Source: ATM Forum 98-0876R1, section 7 "Performance Metrics". With N connections,

    x_i = TCP payload received by client i / duration           bit/s
    S_i = payload that server i had scheduled / duration        bit/s
    C   = maximum TCP throughput of the link                    bit/s
    e_i = max-min fair share of C given the demands S_i         bit/s
    E   = sum x_i / C                                           dimensionless
    F   = (sum r_i)^2 / (N sum r_i^2),  r_i = x_i / e_i         dimensionless

Standard library only.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plan.atm import TCP_IP_HEADER_BYTES
from plan.framing import ATM, Framing

BITS_PER_BYTE = 8
DS3_BIT_PER_S = 45_000_000
ABOVE_ONE = (
    "An efficiency above 1 has one of three causes. A trial counts whole segments, so it can be "
    "above 1 by less than one segment. Or bytes came before the measured interval and were held "
    "out of order until it had begun. Or a moving path carried more than topology.rate_bit_per_s."
)
"""The sentence that stands beside an efficiency above 1, in each table."""


@dataclass(frozen=True, kw_only=True)
class TrialMetrics:
    """What one trial measured; the sequences have one value a connection.

    `fairness` is None when no connection asked for anything, and when none received anything.
    """

    throughput_bit_per_s: tuple[float, ...]
    demand_bit_per_s: tuple[float, ...]
    fair_share_bit_per_s: tuple[float, ...]
    capacity_bit_per_s: float
    efficiency: float
    fairness: float | None


def capacity_bit_per_s(
    mss_bytes: int, rate_bit_per_s: float = DS3_BIT_PER_S, framing: Framing = ATM
) -> float:
    """Maximum TCP throughput C, in bit/s, of a link of `rate_bit_per_s`, all segments full.

    C = rate * MSS / B; a segment of MSS + 40 bytes takes B bytes on the link (plan/framing.py).
    In cells, B = 53 * ceil((MSS + 40 + 16) / 48), and C is 37.80 Mbit/s with an MSS of 1024 bytes
    and 40.39 Mbit/s with 9180 on 45 Mbit/s (98-0876R1, section 7).
    """
    if mss_bytes <= 0 or rate_bit_per_s <= 0:
        raise ValueError(
            f"mss_bytes = {mss_bytes} and rate_bit_per_s = {rate_bit_per_s}: both must be above 0"
        )
    return rate_bit_per_s * mss_bytes / framing.link_bytes(mss_bytes + TCP_IP_HEADER_BYTES)


def rates_bit_per_s(payload_bytes: Iterable[int | None], duration_s: float) -> tuple[float, ...]:
    """Bytes of each connection over `duration_s`, as bit/s; None (no limit) becomes infinity.

    With received bytes this is x_i, with scheduled bytes S_i (98-0876R1, section 7).
    """
    if not duration_s > 0:
        raise ValueError(f"duration_s = {duration_s}: must be above 0")
    return tuple(
        math.inf if count is None else count * BITS_PER_BYTE / duration_s for count in payload_bytes
    )


def max_min_fair_shares(demands: Sequence[float], capacity: float) -> tuple[float, ...]:
    """Max-min fair share e_i of `capacity` for each demand S_i, in the unit of the inputs.

    Connections that ask for less than an equal share of what is left get what they ask,
    and the rest is divided again among the others; those that remain get the equal share
    (98-0876R1, section 7). An infinite demand stands for a persistent source. The sum is
    min(capacity, sum of demands). Demands in ascending order make one pass enough.
    """
    if not capacity > 0:
        raise ValueError(f"capacity = {capacity}: must be above 0")
    if any(not demand >= 0 for demand in demands):
        raise ValueError("each demand must be a number of at least 0")
    shares = [0.0] * len(demands)
    left = capacity
    order = sorted(range(len(demands)), key=demands.__getitem__)
    for place, index in enumerate(order):
        shares[index] = min(demands[index], left / (len(order) - place))
        left -= shares[index]
    return tuple(shares)


def efficiency(throughputs: Iterable[float], capacity: float) -> float:
    """E = sum of the throughputs / C (98-0876R1, section 7)."""
    return math.fsum(throughputs) / capacity


def jain_index(values: Iterable[float]) -> float | None:
    """Jain's fairness index (sum v)^2 / (n sum v^2), from 1/n to 1.

    None without any value, and where all are 0: 0 / 0 is no fairness, neither good nor bad.
    Source: R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984; 98-0876R1, section 7.
    """
    known = list(values)
    squares = math.fsum(value * value for value in known)
    if squares == 0:
        return None
    return math.fsum(known) ** 2 / (len(known) * squares)


def fairness(throughputs: Sequence[float], shares: Sequence[float]) -> float | None:
    """Jain's index over x_i / e_i (98-0876R1, section 7).

    A connection without demand has e_i = 0, cannot be treated unfairly, and is left out;
    None when none is left, and when none of those received anything.
    """
    pairs = zip(throughputs, shares, strict=True)
    return jain_index(rate / share for rate, share in pairs if share > 0)


def trial_metrics(
    *,
    received_bytes: Sequence[int],
    scheduled_bytes: Sequence[int | None],
    duration_s: float,
    mss_bytes: int,
    rate_bit_per_s: float = DS3_BIT_PER_S,
    framing: Framing = ATM,
) -> TrialMetrics:
    """All metrics of a trial, from the payload bytes of each connection.

    received_bytes: received by client i; scheduled_bytes: what server i had to send, None
    for a persistent source; both of length N. Raises ValueError on lengths that differ.
    """
    if len(received_bytes) != len(scheduled_bytes):
        raise ValueError(
            f"received_bytes has {len(received_bytes)} values and scheduled_bytes has "
            f"{len(scheduled_bytes)}; both must have the same number"
        )
    capacity = capacity_bit_per_s(mss_bytes, rate_bit_per_s, framing)
    throughputs = rates_bit_per_s(received_bytes, duration_s)
    demands = rates_bit_per_s(scheduled_bytes, duration_s)
    shares = max_min_fair_shares(demands, capacity)
    return TrialMetrics(
        throughput_bit_per_s=throughputs,
        demand_bit_per_s=demands,
        fair_share_bit_per_s=shares,
        capacity_bit_per_s=capacity,
        efficiency=efficiency(throughputs, capacity),
        fairness=fairness(throughputs, shares),
    )
