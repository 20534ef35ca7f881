# SPDX-License-Identifier: GPL-2.0-only
"""The distributions of PackMime-HTTP, as functions of noise or uniform numbers.

`rate` is always the model's one parameter, new connections per second. L is its logistic function
to the base 2. The upper tail 1 - Phi(z) of a normal z is computed by its logarithm, because 1 - u
of a rounded u = Phi(z) would cut the tails.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, ndtr

from workload.packmime.fsd import fsd, uniforms
from workload.packmime.tables import (
    CACHED_RESPONSE,
    CLIENT_ROUND_TRIP,
    DOWNLOADED_RESPONSE,
    REQUEST_BODY,
    REQUEST_TAIL,
    SERVER_ROUND_TRIP,
    FloatArray,
)

IntArray = NDArray[np.int64]

# Weibull scales of the lengths of runs of responses, before rounding up.
CACHED_RUN_SCALE, DOWNLOADED_RUN_SCALE = 0.775, 3.11
SERVER_DELAY_SHAPE, SERVER_DELAY_SCALE_PER_S, SERVER_DELAY_LEAST_PER_S = 0.63, 305.0, 10.0


def logistic(intercept: float, slope: float, rate: float) -> float:
    """Return L(intercept + slope log2(rate)), L(x) = 2^x / (1 + 2^x)."""
    power = 2.0**intercept * rate**slope
    return power / (1 + power)


def weibull(survival_log: FloatArray, shape: FloatArray | float) -> FloatArray:
    """Return the quantile of a Weibull distribution of scale 1; survival_log is ln(1 - u)."""
    return np.asarray((-survival_log) ** (1 / np.asarray(shape)))


def gap_s(z: FloatArray, rate: float) -> FloatArray:
    """Return the times between connections [s]: Weibull, mean 1/rate."""
    shape = logistic(0.352, 0.388, rate)
    mean = np.exp(gammaln(1 + 1 / shape))
    return weibull(log_ndtr(-z), shape) / (rate * mean)


def request_bytes(z: FloatArray) -> IntArray:
    """Return the sizes of requests [bytes]."""
    body = REQUEST_BODY.at(2 * ndtr(z))
    tail = 2 ** REQUEST_TAIL.at(-1 - log_ndtr(-z) / np.log(2))
    return np.where(z <= 0, body, tail).astype(np.int64)


def round_trip_ms(client_z: FloatArray, server_z: FloatArray) -> FloatArray:
    """Return the round trips of connections [ms]: the client's part plus the server's part."""
    client = CLIENT_ROUND_TRIP.at(-log_ndtr(-client_z) / np.log(10)) ** 5
    server = SERVER_ROUND_TRIP.at(-log_ndtr(-server_z) / np.log(10)) ** 3
    return np.asarray(client + server)


def response_bytes(u: FloatArray, downloaded: NDArray[np.bool_]) -> IntArray:
    """Return the sizes of responses [bytes]; `downloaded` tells the kind of each response."""
    cached = CACHED_RESPONSE.at(u)
    other = 2 ** DOWNLOADED_RESPONSE.at(-np.log2(1 - u))
    return np.maximum(np.where(downloaded, other, cached).astype(np.int64), 1)


def downloaded(u: FloatArray, rate: float) -> NDArray[np.bool_]:
    """Return for each of len(u) responses in a row whether it is a download; `u` gives run lengths.

    Runs of downloads and runs of answers to caches alternate; the first run has downloads.
    """
    kind = np.arange(len(u)) % 2 == 0
    shape = np.where(kind, logistic(1.293, 0.316, rate), logistic(0.718, 0.357, rate))
    scale = np.where(kind, DOWNLOADED_RUN_SCALE, CACHED_RUN_SCALE)
    lengths = np.ceil(scale * weibull(np.log1p(-u), shape)).astype(np.int64)
    enough = int(np.searchsorted(np.cumsum(np.maximum(lengths, 1)), len(u))) + 1
    return np.repeat(kind[:enough], np.maximum(lengths[:enough], 1))[: len(u)]


def server_delay_s(u: FloatArray) -> FloatArray:
    """Return the thinking times of servers [s]: inverse Weibull numbers, at most 0.1 s."""
    per_s = SERVER_DELAY_SCALE_PER_S * weibull(np.log1p(-u), SERVER_DELAY_SHAPE)
    return np.asarray(1 / np.maximum(per_s, SERVER_DELAY_LEAST_PER_S))


def draw_gaps_s(rate: float, count: int, seed: int, *names: str) -> FloatArray:
    """Draw the times between connections [s], with their long memory."""
    return gap_s(fsd(0.33, logistic(0.333, 0.414, rate), count, seed, *names, "gap"), rate)


def draw_request_bytes(rate: float, count: int, seed: int, *names: str) -> IntArray:
    """Draw the sizes of requests [bytes], with their long memory."""
    return request_bytes(fsd(0.31, logistic(0.123, 0.494, rate), count, seed, *names, "request"))


def draw_round_trip_ms(rate: float, count: int, seed: int, *names: str) -> FloatArray:
    """Draw the round trips of connections [ms], with their long memory."""
    client = fsd(0.31, logistic(-0.445, 0.554, rate), count, seed, *names, "client")
    server = fsd(0.32, logistic(-0.053, 0.396, rate), count, seed, *names, "server")
    return round_trip_ms(client, server)


def draw_response_bytes(rate: float, count: int, seed: int, *names: str) -> IntArray:
    """Draw the sizes of responses [bytes], in their runs."""
    kinds = downloaded(uniforms(seed, count, *names, "run"), rate)
    return response_bytes(uniforms(seed, count, *names, "response"), kinds)


def draw_server_delay_s(count: int, seed: int, *names: str) -> FloatArray:
    """Draw the thinking times of servers [s]."""
    return server_delay_s(uniforms(seed, count, *names, "delay"))
