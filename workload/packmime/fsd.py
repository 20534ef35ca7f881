# SPDX-License-Identifier: GPL-2.0-only
"""Fractional sum-difference (FSD) noise: Gaussian, mean 0, variance 1, with long memory.

    z_t = sqrt(1 - th) s_t + sqrt(th) n_t,   s_t = sigma (x_t + x_{t-1}),   (1 - B)^d x_t = e_t

Here e and n are white, B is the step back, and sigma makes the variance of s equal to 1 (INFOCOM
2004, section on FSD time series). ns-2 cuts off x's autoregression after 1,000 or 5,000 terms. This
module computes x exactly, by circulant embedding of its covariance (Davies and Harte, Biometrika
74, 1987).
"""

import numpy as np
from scipy.special import gammaln, ndtri

from workload.packmime.tables import FloatArray
from workload.streams import stream


def uniforms(seed: int, count: int, *names: str | int) -> FloatArray:
    """Return the first `count` numbers of the stream of `seed` and `names`, each in [0, 1)."""
    source = stream(seed, "packmime", *names)
    return np.fromiter(iter(source.random, None), dtype=np.float64, count=count)


def normals(seed: int, count: int, *names: str | int) -> FloatArray:
    """Return `count` standard normal numbers from the same stream."""
    return np.asarray(ndtri(np.maximum(uniforms(seed, count, *names), 2.0**-54)))


def covariance(d: float, count: int) -> FloatArray:
    """Return the autocovariance of fractional noise x at lags 0 to count - 1 (e of variance 1)."""
    lags = np.arange(1, count)
    ratios = (lags - 1 + d) / (lags - d)
    at_zero = np.exp(gammaln(1 - 2 * d) - 2 * gammaln(1 - d))
    return np.asarray(at_zero * np.concatenate(([1.0], np.cumprod(ratios))))


def fractional_noise(d: float, white: FloatArray) -> FloatArray:
    """Return len(white) / 2 values of x for 0 < d < 0.5; len(white) must be a power of two."""
    half = len(white) // 2
    lags = covariance(d, half + 1)
    around = np.concatenate((lags, lags[-2:0:-1]))
    # The covariance falls and is convex, so the spectrum is at least 0, but for rounding errors.
    spectrum = np.maximum(np.fft.rfft(around).real, 0)
    return np.asarray(np.fft.irfft(np.sqrt(spectrum) * np.fft.rfft(white))[:half])


def fsd(d: float, noise_share: float, count: int, seed: int, *names: str | int) -> FloatArray:
    """Return `count` values of z from the streams of `seed` and `names`; noise_share is th."""
    half = 1 << count.bit_length()
    x = fractional_noise(d, normals(seed, 2 * half, *names, "memory"))
    lag_0, lag_1 = covariance(d, 2)
    s = (x[1 : count + 1] + x[:count]) / np.sqrt(2 * (lag_0 + lag_1))
    n = normals(seed, count, *names, "noise")
    return np.asarray(np.sqrt(1 - noise_share) * s + np.sqrt(noise_share) * n)
