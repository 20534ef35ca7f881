# SPDX-License-Identifier: GPL-2.0-only
"""The exchanges of an HTTP/1.1 connection after its first.

A connection is persistent with probability 0.09. It fetches pages, and each page has objects. All
requests are as large as the first. If the first response answers a cache, all responses are as
large as the first; otherwise, their sizes are log-normal. Gaps are always log-normal. Sizes and
gaps have a location and a spread of the connection's own.

ns-2 draws the location and spread of gaps once per simulation. This module draws them for each
connection, as it does for sizes.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtri

from workload.packmime.marginals import server_delay_s
from workload.streams import stream

PERSISTENT_SHARE = 0.09
ONE_PAGE_SHARE, ONE_OBJECT_SHARE = 0.82, 0.69
MORE_PAGES, MORE_OBJECTS = 0.417, 1.578  # means of exponential numbers, before rounding up
CACHED_MAX_BYTES = 275

Uniform = Callable[[], float]


@dataclass(frozen=True)
class LogNormal:
    """2^(m + sqrt(error g) N) with m ~ N(mean, variance), g ~ Gamma(shape, rate = shape)."""

    mean: float
    variance: float
    shape: float
    error: float

    def of_connection(self, uniform: Uniform) -> Callable[[], float]:
        """Draw m and g; return a function that draws the values."""
        m = self.mean + math.sqrt(self.variance) * _normal(uniform)
        g = float(gammaincinv(self.shape, uniform())) / self.shape
        return lambda: 2 ** (m + math.sqrt(self.error * g) * _normal(uniform))


RESPONSE_BYTES = LogNormal(10.62, 0.94, 3.22, 2.43)
IN_PAGE_S = LogNormal(-4.15, 3.12, 2.35, 1.57)
BETWEEN_PAGES_S = LogNormal(3.22, 0.73, 1.85, 1.21)


@dataclass(frozen=True, slots=True)
class Next:
    """An exchange after the first; `wait_s` counts from the last byte of the previous response."""

    wait_s: float
    server_delay_s: float
    response_bytes: int


def following(seed: int, first_response_bytes: int, *names: str | int) -> Iterator[Next]:
    """Return the exchanges of a persistent connection after its first."""
    uniform = stream(seed, "packmime", *names).random
    objects = _objects_of_pages(uniform)
    in_page, between = IN_PAGE_S.of_connection(uniform), BETWEEN_PAGES_S.of_connection(uniform)
    size = RESPONSE_BYTES.of_connection(uniform)
    for page, count in enumerate(objects):
        for number in range(count):
            if page == number == 0:
                continue
            yield Next(
                between() if number == 0 else in_page(),
                float(server_delay_s(np.array([uniform()]))[0]),
                _response_bytes(first_response_bytes, size()),
            )


def _response_bytes(first: int, drawn: float) -> int:
    return first if first <= CACHED_MAX_BYTES else max(int(drawn), 1)


def _objects_of_pages(uniform: Uniform) -> list[int]:
    if uniform() < ONE_PAGE_SHARE:
        return [_at_least_two(uniform, MORE_OBJECTS)]
    pages = _at_least_two(uniform, MORE_PAGES)
    return [
        1 if uniform() < ONE_OBJECT_SHARE else _at_least_two(uniform, MORE_OBJECTS)
        for _ in range(pages)
    ]


def _at_least_two(uniform: Uniform, mean: float) -> int:
    return max(math.ceil(1 - mean * math.log1p(-uniform())), 2)


def _normal(uniform: Uniform) -> float:
    return float(ndtri(max(uniform(), 2.0**-54)))
