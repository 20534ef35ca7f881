# SPDX-License-Identifier: GPL-2.0-only
"""A Poisson distribution confined to the whole numbers from `low` to `high`.

98-0876R1 (sections 5.2, 5.3) draws "1 to 9 … Poisson distributed around a mean of 5" and does not
say how an unbounded distribution became a bounded one. There are three readings:

    mean    the Poisson distribution cut to low..high, with the rate for which the mean of the rest
            is exactly the requested mean. Only this reading gives the paper's 120.3 kB and 48 Mbps.
    redraw  rate = mean; values outside are drawn again (mean 5 of 1..9 becomes 4.85)
    clamp   rate = mean; values outside are moved to the nearer end (4.95)

One uniform number makes one value, so the reading does not shift the stream.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

from workload.errors import WorkloadError

Fit = Literal["mean", "redraw", "clamp"]
FITS: tuple[Fit, ...] = get_args(Fit)
FIT_TEXT = (
    "The files on the servers are in five classes of size. Each class has nine files with the"
    " numbers 1 to 9. A client asks for a file whose number is drawn from a Poisson distribution"
    " of mean 5, limited to 1..9. The number of requests in a batch of `www` or `quic` is drawn in"
    " the same way, but with the mean and the limits of the keys `workload.requests_...`."
    " 98-0876R1 does not say how to limit the distribution, and this key chooses the way. With"
    " `mean`, only values within the limits are drawn. Their mean is the wanted mean: 5 for the"
    " files, `workload.requests_mean` for the requests. For this, cellbed computes the parameter"
    " of the distribution. With `redraw` and `clamp`, the parameter is the wanted mean. With"
    " `redraw`, a new value replaces a value outside the limits. `clamp` replaces a value below"
    " the lower limit by this limit, and a value above the upper limit by that limit"
    " (workload/poisson.py)."
)


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """Probabilities of the whole numbers low, low + 1, …; `cumulative` ends at exactly 1.0."""

    low: int
    cumulative: tuple[float, ...]

    def at(self, uniform: float) -> int:
        """Return the value at `uniform` in [0, 1) of the cumulative distribution."""
        return self.low + bisect_right(self.cumulative, uniform)

    def mean(self) -> float:
        """Return the distribution's own mean."""
        before = (0.0, *self.cumulative[:-1])
        steps = zip(self.cumulative, before, strict=True)
        return sum((self.low + i) * (c - b) for i, (c, b) in enumerate(steps))


def bounded(mean: float, low: int, high: int, fit: str) -> Bounded:
    """Return the Poisson distribution of `mean` confined to low..high, by the reading `fit`.

    Raises WorkloadError for an unknown reading or a mean outside low..high.
    """
    if not 0 <= low < high or not low < mean < high:
        raise WorkloadError(f"the Poisson mean {mean:g} must lie between {low} and {high}")
    if fit == "mean":
        return _cut(_rate_for_mean(mean, low, high), low, high)
    if fit == "redraw":
        return _cut(mean, low, high)
    if fit == "clamp":
        return _clamped(mean, low, high)
    raise WorkloadError(f"the Poisson fit {fit!r} is unknown; it must be one of {', '.join(FITS)}")


def _weights(rate: float, count: int) -> list[float]:
    """Return rate^k / k! for k < count. It multiplies only, so all machines get the same result."""
    return list(accumulate(range(1, count), lambda w, k: w * rate / k, initial=1.0))


def _normalised(low: int, weights: list[float]) -> Bounded:
    sums = list(accumulate(weights))
    return Bounded(low=low, cumulative=(*(s / sums[-1] for s in sums[:-1]), 1.0))


def _cut(rate: float, low: int, high: int) -> Bounded:
    return _normalised(low, _weights(rate, high + 1)[low:])


def _clamped(rate: float, low: int, high: int) -> Bounded:
    # For all rates in use, terms beyond rate + 60 are below the last bit of the sum.
    weights = _weights(rate, high + int(rate) + 60)
    inner = weights[low : high + 1]
    inner[0] += sum(weights[:low])
    inner[-1] += sum(weights[high + 1 :])
    return _normalised(low, inner)


def _rate_for_mean(mean: float, low: int, high: int) -> float:
    return _bisect(lambda rate: _cut(rate, low, high).mean() - mean, 1e-9, 1e6)


def _bisect(rising: Callable[[float], float], below: float, above: float) -> float:
    # About 110 steps halve 1e6 down to the last bit of a double.
    while below < (middle := (below + above) / 2) < above:
        below, above = (middle, above) if rising(middle) < 0 else (below, middle)
    return below
