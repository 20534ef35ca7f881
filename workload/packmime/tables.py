# SPDX-License-Identifier: GPL-2.0-only
"""The empirical quantile functions of PackMime-HTTP; each is a polyline through knots.

The model gives them as tables of up to 100 points. For sizes, this module keeps just enough points
to represent each point within half a percent. For round trips, it keeps all points. Beyond the
ends, the first and the last piece continue.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A function through (x, y) knots, linear between them."""

    knots: Sequence[tuple[float, float]]

    def at(self, x: FloatArray) -> FloatArray:
        """Return the function's values at `x`."""
        xs, ys = np.array(self.knots).T
        piece = np.clip(np.searchsorted(xs, x, side="right") - 1, 0, len(xs) - 2)
        slopes = np.diff(ys) / np.diff(xs)
        return np.asarray(ys[piece] + slopes[piece] * (x - xs[piece]))


# fmt: off
# Responses to a cache that asks whether its copy is still valid: probability -> bytes.
CACHED_RESPONSE = Line((
    (0.0001, 4.6), (0.0203, 40.8), (0.0304, 53.0), (0.0405, 61.5), (0.0607, 67.4), (0.0708, 69.7),
    (0.1011, 74.8), (0.1314, 93.6), (0.1516, 101.2), (0.1718, 107.0), (0.2122, 114.3),
    (0.2728, 121.6), (0.4445, 135.6), (0.6061, 150.5), (0.6465, 155.4), (0.6768, 162.0),
    (0.6970, 168.5), (0.7172, 177.6), (0.7576, 200.6), (0.8081, 214.4), (0.8788, 240.0),
    (0.9293, 261.5), (0.9596, 268.5), (1.0000, 272.2),
))
# Other responses: -log2(1 - probability) -> log2(bytes). The tail is Pareto, exponent 1.231.
DOWNLOADED_RESPONSE = Line((
    (0.002, 8.108), (0.369, 9.289), (0.553, 9.861), (0.736, 10.410), (0.920, 10.930),
    (1.103, 11.413), (1.287, 11.854), (1.471, 12.251), (1.654, 12.601), (1.838, 12.900),
    (2.022, 13.148), (2.205, 13.344), (2.389, 13.504), (2.940, 13.925), (3.123, 14.098),
    (3.674, 14.693), (3.858, 14.867), (4.041, 15.004), (4.225, 15.098), (4.408, 15.160),
    (4.959, 15.300), (5.143, 15.378), (5.327, 15.480), (5.694, 15.739), (18.179, 25.877),
))
# The smaller half of the requests: probability within it -> bytes.
REQUEST_BODY = Line((
    (0.0000, 51.0), (0.0101, 93.8), (0.0202, 123.3), (0.0404, 168.8), (0.0505, 184.3),
    (0.0606, 193.9), (0.0909, 210.1), (0.1414, 253.1), (0.1616, 265.2), (0.1919, 277.2),
    (0.3232, 315.3), (0.4142, 336.1), (0.5556, 359.2), (1.0000, 421.8),
))
# The larger half: -log2(1 - probability within it) -> log2(bytes). Pareto, exponent 1.485.
REQUEST_TAIL = Line((
    (0.008, 8.728), (0.367, 8.786), (0.547, 8.827), (0.726, 8.882), (0.906, 8.955),
    (1.085, 9.052), (1.803, 9.547), (1.983, 9.647), (2.162, 9.719), (2.342, 9.769),
    (2.880, 9.879), (3.060, 9.935), (3.239, 10.011), (3.598, 10.209), (3.957, 10.444),
    (17.779, 19.758),
))
# Round trip from the model's link to the client: -log10(1 - probability) -> ms^(1/5).
CLIENT_ROUND_TRIP = Line((
    (0, 0.877), (0.25, 1.073), (0.5, 1.108), (0.75, 1.867), (1, 2.047), (1.25, 2.306),
    (1.5, 2.901), (1.75, 3.302), (2, 3.593), (2.25, 3.879), (2.5, 4.022), (2.75, 4.176),
    (3, 4.321), (3.25, 4.431), (3.5, 4.571), (3.75, 4.661), (4, 4.734), (4.25, 4.787),
    (4.5, 4.846), (4.75, 4.913), (5, 4.955), (5.301, 5.015),
))
# Round trip from the model's link to the server: -log10(1 - probability) -> ms^(1/3).
SERVER_ROUND_TRIP = Line((
    (0, 0.791), (0.25, 3.718), (0.5, 4.461), (0.75, 4.498), (1, 4.850), (1.25, 5.782),
    (1.5, 6.774), (1.75, 7.787), (2, 8.750), (2.25, 10.343), (2.5, 11.448), (2.75, 14.027),
    (3, 14.614), (4, 17.225),
))
# fmt: on
