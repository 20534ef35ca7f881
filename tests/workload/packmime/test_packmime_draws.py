# SPDX-License-Identifier: GPL-2.0-only
"""PackMime's noise and distributions against their theory."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma, ndtri

from workload.packmime import marginals, persistent
from workload.packmime.draw import draw
from workload.packmime.fsd import covariance, fractional_noise, fsd, normals, uniforms
from workload.packmime.traffic import Traffic
from workload.streams import stream

RATE = 100.0


def evenly(count):
    """The middles of `count` equal parts of 0..1."""
    return (np.arange(count) + 0.5) / count


def test_uniform_numbers_are_those_of_the_named_stream():
    source = stream(7, "packmime", "down", "gap")
    assert uniforms(7, 100, "down", "gap").tolist() == [source.random() for _ in range(100)]


# ---- noise ----


@pytest.mark.parametrize("d", [0.31, 0.32, 0.33])
def test_covariance_of_fractional_noise(d):
    """Hosking 1981, theorem 1."""
    lags = covariance(d, 50)
    assert lags[0] == pytest.approx(gamma(1 - 2 * d) / gamma(1 - d) ** 2)
    at_7 = gamma(1 - d) * gamma(7 + d) / (gamma(d) * gamma(7 + 1 - d))
    assert lags[7] / lags[0] == pytest.approx(at_7)


def test_the_embedding_needs_no_correction():
    lags = covariance(0.33, 4097)
    spectrum = np.fft.rfft(np.concatenate((lags, lags[-2:0:-1]))).real
    assert spectrum.min() > 0


def theory_of_z(d, noise_share, lag):
    x = covariance(d, lag + 2)
    s = (2 * x[lag] + x[lag + 1] + x[abs(lag - 1)]) / (2 * (x[0] + x[1]))
    return (1 - noise_share) * s + (noise_share if lag == 0 else 0)


@pytest.mark.parametrize("noise_share", [0.0, 0.3, 0.9])
def test_variance_and_correlation_of_fsd_noise(noise_share):
    series = np.array([fsd(0.33, noise_share, 1000, seed, "z") for seed in range(300)])
    for lag in (0, 1, 2, 5, 20, 200):
        # The mean is known to be 0, so that these are without bias.
        products = (series[:, lag:] * series[:, : 1000 - lag]).mean(axis=1)
        error = products.std() / math.sqrt(len(products))
        assert abs(products.mean() - theory_of_z(0.33, noise_share, lag)) < 4 * error, lag


@pytest.mark.parametrize("d", [0.31, 0.33])
def test_the_spectrum_rises_towards_zero_as_its_memory_says(d):
    """f(w) ~ |2 sin(w/2)|^-2d: the slope of the averaged periodogram's logarithm."""
    count = 8192
    noise = [fractional_noise(d, normals(seed, 2 * count, "x")) for seed in range(60)]
    power = np.mean([np.abs(np.fft.rfft(x)) ** 2 for x in noise], axis=0)[8:400]
    frequency = 2 * np.pi * np.arange(8, 400) / count
    slope = np.polyfit(np.log(2 * np.sin(frequency / 2)), np.log(power), 1)[0]
    # A mean of 60 exponential numbers has a logarithm of deviation 0.13; so has the slope 0.008.
    assert slope == pytest.approx(-2 * d, abs=0.032)


def test_fsd_noise_is_normal():
    # One number a seed: numbers of one series are not independent.
    found = [fsd(0.33, 0.3, 16, seed, "z")[9] for seed in range(1000)]
    assert stats.kstest(found, "norm").pvalue > 0.001


# ---- distributions ----


@pytest.mark.parametrize(("rate", "shape", "variation"), [(100, 0.884, 1.13), (10, 0.757, 1.34)])
def test_gaps_are_weibull_with_the_rate_s_mean(rate, shape, variation):
    assert marginals.logistic(0.352, 0.388, rate) == pytest.approx(shape, abs=5e-4)
    gaps = marginals.gap_s(ndtri(evenly(1_000_000)), rate)
    assert gaps.mean() == pytest.approx(1 / rate, rel=1e-3)
    assert gaps.std() * rate == pytest.approx(variation, rel=5e-3)
    found = marginals.gap_s(normals(1, 20_000, "iid"), rate)
    exact = marginals.logistic(0.352, 0.388, rate)
    scale = 1 / (rate * gamma(1 + 1 / exact))
    assert stats.kstest(found, stats.weibull_min(exact, scale=scale).cdf).pvalue > 0.001


PROBABILITIES = (0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999)


@pytest.mark.parametrize(
    ("quantile", "expected"),
    [
        (
            lambda u: marginals.response_bytes(u, np.ones(len(u), dtype=bool)),
            (386, 691, 2258, 8895, 20.3e3, 35.9e3, 93e3, 604e3),
        ),
        (
            lambda u: marginals.request_bytes(ndtri(u)),
            (280, 351, 422, 514, 869, 1063, 3062, 14.4e3),
        ),
    ],
)
def test_quantiles_of_sizes_are_the_published_tables(quantile, expected):
    # Half a percent by the knots left out, and the rest by the figures' rounding.
    assert quantile(np.array(PROBABILITIES)) == pytest.approx(expected, rel=0.009)


def agrees(value, figure):
    """Is `value` the printed figure, but for its rounding and the half percent of the knots?"""
    decimals = len(figure.partition(".")[2])
    return abs(value - float(figure)) <= 0.5 * 10**-decimals + 0.005 * value


@pytest.mark.parametrize(
    ("client", "figures"),
    [(True, "0.64 0.88 1.5 5.7 36 84 599 1507"), (False, "2.3 11 58 90 114 214 670 3121")],
)
def test_quantiles_of_round_trips_are_the_published_tables(client, figures):
    z, least = ndtri(np.array(PROBABILITIES)), np.full(len(PROBABILITIES), -9.0)
    at_least = marginals.round_trip_ms(least[:1], least[:1])[0]
    assert agrees(at_least, "1.02")
    found = marginals.round_trip_ms(*((z, least) if client else (least, z)))
    other_ms = 0.791**3 if client else 0.877**5
    for value, figure in zip(found - other_ms, figures.split(), strict=True):
        assert agrees(value, figure), figure


def test_quantiles_and_mean_of_whole_round_trips():
    found = marginals.round_trip_ms(normals(1, 400_000, "a"), normals(1, 400_000, "b"))
    expected = (4.9, 21, 67, 97, 188, 361, 1059, 3180)
    assert np.quantile(found, PROBABILITIES) == pytest.approx(expected, rel=0.04)
    assert found.mean() == pytest.approx(108, rel=0.02)


@pytest.mark.parametrize(
    ("tail", "exponent"),
    [
        (lambda u: marginals.response_bytes(u, np.ones(len(u), dtype=bool)), 1.231),
        (lambda u: marginals.request_bytes(ndtri(u)), 1.485),
    ],
)
def test_large_sizes_are_pareto_without_a_cap(tail, exponent):
    sizes = tail(1 - np.array([1e-3, 1e-6, 1e-9]))
    slopes = np.log(1e-3) / np.log(sizes[:-1] / sizes[1:])
    assert 1 / slopes == pytest.approx([1 / exponent] * 2, rel=5e-3)


def test_answers_to_caches_are_small():
    found = marginals.response_bytes(evenly(100_000), np.zeros(100_000, dtype=bool))
    assert (found.min(), found.max()) == (4, 272)
    assert (np.diff(found) >= 0).all()


def mean_run(shape, scale):
    """Of ceil(Weibull): the sum of P(Weibull > j)."""
    return sum(math.exp(-((j / scale) ** shape)) for j in range(10_000))


def test_runs_of_responses():
    kinds = marginals.downloaded(uniforms(1, 400_000, "run"), RATE)
    assert len(kinds) == 400_000
    assert kinds[0]
    ends = np.flatnonzero(np.diff(kinds.astype(int)))
    lengths = np.diff(np.concatenate(([-1], ends)))
    downloads, cached = lengths[::2], lengths[1::2]
    expected = [
        mean_run(marginals.logistic(1.293, 0.316, RATE), marginals.DOWNLOADED_RUN_SCALE),
        mean_run(marginals.logistic(0.718, 0.357, RATE), marginals.CACHED_RUN_SCALE),
    ]
    assert [downloads.mean(), cached.mean()] == pytest.approx(expected, rel=0.02)
    assert 1 - kinds.mean() == pytest.approx(0.275, abs=0.003)


def test_all_responses_together():
    found = marginals.draw_response_bytes(RATE, 400_000, 1, "x")
    shares = [(found <= size).mean() for size in (1420, 10_000, 50_000)]
    assert shares == pytest.approx([0.57, 0.84, 0.984], abs=0.006)


def test_server_delays():
    found = marginals.server_delay_s(evenly(1_000_000))
    assert np.median(found) == pytest.approx(5.9e-3, rel=0.01)
    assert found.mean() == pytest.approx(22e-3, rel=0.02)
    assert found.max() == 0.1
    assert (found == 0.1).mean() == pytest.approx(0.11, abs=0.005)


# ---- HTTP/1.1 ----


@pytest.fixture(scope="module")
def further():
    """What follows a download on 10,000 persistent connections."""
    return [list(persistent.following(1, 5000, "down", n)) for n in range(10_000)]


def test_persistent_connections_carry_as_many_pairs_as_in_the_model(further):
    pairs = [1 + len(exchanges) for exchanges in further]
    assert np.mean(pairs) == pytest.approx(3.20, rel=0.02)
    assert min(pairs) == 2


def test_their_sizes_and_gaps(further):
    sizes = [exchange.response_bytes for exchanges in further for exchange in exchanges]
    assert np.median(sizes) == pytest.approx(1600, rel=0.05)
    assert np.mean(sizes) == pytest.approx(3800, rel=0.1)
    one_page = [draws[0].wait_s for draws in further]
    # 0.18 of the connections have several pages, mostly of one object: their gap is the long one.
    assert np.median([wait for wait in one_page if wait < 2]) == pytest.approx(0.056, rel=0.15)


def test_a_cache_is_answered_alike_throughout():
    found = [x.response_bytes for n in range(100) for x in persistent.following(1, 275, n)]
    assert set(found) == {275}


def test_a_connection_in_eleven_is_persistent():
    plain = draw(Traffic(), RATE, 20_000, 1, "down")
    found = draw(Traffic(http="1.1"), RATE, 20_000, 1, "down")
    assert len(found.wait_ns) / 20_000 == pytest.approx(1.198, rel=0.01)
    assert (found.exchanges > 1).mean() == pytest.approx(0.09, abs=0.006)
    first = np.concatenate(([0], np.cumsum(found.exchanges)[:-1]))
    for column in ("request_bytes", "response_bytes", "server_delay_ns"):
        assert (getattr(found, column)[first] == getattr(plain, column)).all()
    assert not found.wait_ns[first].any()
    number = np.repeat(np.arange(20_000), found.exchanges)
    assert (found.request_bytes == plain.request_bytes[number]).all()
