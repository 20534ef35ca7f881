# SPDX-License-Identifier: GPL-2.0-only
"""Metrics of a trial over several named middle links (plan/layout.py).

With N pairs and links k of capacity C_k, and x_i as in analysis/metrics.py,

    e_i  = max-min fair share of pair i over all links, given the demands         bit/s
    E_k  = sum of x_i over the pairs that cross link k / C_k                      dimensionless
    E    = sum over all links of what they carried / sum of C_k                   dimensionless
    F    = Jain's index of x_i / e_i                                              dimensionless

The max-min fair shares are those of a network: they grow together until a link is full, or a pair
has what it asks for (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2).
With one link they are those of analysis/metrics.py. Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.metrics import capacity_bit_per_s, efficiency, fairness, rates_bit_per_s
from plan.layout import Layout


@dataclass(frozen=True, kw_only=True)
class LinkMetrics:
    """What one trial measured.

    Attributes:
        fair_share_bit_per_s: e_i of each pair.
        capacity_bit_per_s: C_k of each link, by its name.
        efficiency: E; of_link: E_k of each link, by its name.
        fairness: F; None when no pair asked for anything, and when none received anything.
        of_share: name of a route -> the mean of x_i / e_i over its pairs with a share.
    """

    fair_share_bit_per_s: tuple[float, ...]
    capacity_bit_per_s: Mapping[str, float]
    efficiency: float
    of_link: Mapping[str, float]
    fairness: float | None
    of_share: Mapping[str, float]


def link_metrics(
    layout: Layout,
    *,
    received_bytes: Sequence[int],
    scheduled_bytes: Sequence[int | None],
    duration_s: float,
) -> LinkMetrics:
    """All metrics of a trial, from the payload bytes of each pair (analysis/metrics.py)."""
    capacity = {
        one.name: capacity_bit_per_s(layout.mss_bytes, one.link.rate_bit_per_s, one.link.framing)
        for one in layout.middles()
    }
    rates = rates_bit_per_s(received_bytes, duration_s)
    demands = rates_bit_per_s(scheduled_bytes, duration_s)
    routes = [[one.name for one in layout.route(pair + 1)] for pair in range(layout.pairs)]
    shares = max_min_over_links(demands, routes, capacity)
    carried = {
        name: math.fsum(rate for rate, route in zip(rates, routes, strict=True) if name in route)
        for name in capacity
    }
    return LinkMetrics(
        fair_share_bit_per_s=shares,
        capacity_bit_per_s=capacity,
        efficiency=efficiency(carried.values(), math.fsum(capacity.values())),
        of_link={name: carried[name] / capacity[name] for name in capacity},
        fairness=fairness(rates, shares),
        of_share=of_share(layout.classes(), rates, shares),
    )


def of_share(
    classes: Mapping[str, Sequence[int]], rates: Sequence[float], shares: Sequence[float]
) -> dict[str, float]:
    """Name of a route -> the mean of rate / fair share over its pairs with a share."""
    found = {}
    for name, pairs in classes.items():
        known = [rates[pair - 1] / shares[pair - 1] for pair in pairs if shares[pair - 1] > 0]
        if known:
            found[name] = math.fsum(known) / len(known)
    return found


def max_min_over_links(
    demands: Sequence[float], routes: Sequence[Sequence[str]], capacity: Mapping[str, float]
) -> tuple[float, ...]:
    """Max-min fair shares over several links, in the unit of the inputs.

    The shares of all pairs grow together. A pair stops where it has what it asks for, and where a
    link of its route is full.

    Args:
        demands: of each pair; infinite for a persistent source.
        routes: of each pair, the names of its links; at least one.
        capacity: name of a link -> its capacity.
    """
    shares = [0.0] * len(demands)
    left, growing = dict(capacity), {i for i, demand in enumerate(demands) if demand > 0}
    while growing:
        users = {name: [i for i in growing if name in routes[i]] for name in left}
        room = {name: left[name] / len(of) for name, of in users.items() if of}
        step = min(min(room.values()), min(demands[i] - shares[i] for i in growing))
        full = {name for name, of in room.items() if of <= step}
        for i in growing:
            shares[i] += step
            left |= {name: left[name] - step for name in routes[i]}
        growing = {
            i for i in growing if shares[i] < demands[i] and not full.intersection(routes[i])
        }
    return tuple(shares)
