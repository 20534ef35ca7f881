# SPDX-License-Identifier: GPL-2.0-only
"""Metrics against closed forms and the paper's own figures."""

import math

import pytest

from analysis import metrics


@pytest.mark.parametrize(
    ("mss_bytes", "rate_bit_per_s", "mbit_per_s"),
    [(1024, 45e6, 37.80), (9180, 45e6, 40.39), (512, 155.52e6, 125.20)],
)
def test_capacity_is_the_papers(mss_bytes: int, rate_bit_per_s: float, mbit_per_s: float) -> None:
    capacity = metrics.capacity_bit_per_s(mss_bytes, rate_bit_per_s)
    assert round(capacity / 1e6, 2) == mbit_per_s


@pytest.mark.parametrize(
    ("demands", "capacity", "shares"),
    [
        ((2, 2.6, 4, 5), 10, (2, 2.6, 2.7, 2.7)),  # Bertsekas & Gallager's textbook case
        ((5, 4, 2.6, 2), 10, (2.7, 2.7, 2.6, 2)),  # order does not matter
        ((1, 1, 1), 10, (1, 1, 1)),  # demand below capacity
        ((math.inf,) * 4, 10, (2.5,) * 4),  # persistent sources
        ((0, math.inf), 10, (0, 10)),
        ((), 10, ()),
    ],
)
def test_max_min_fair_shares(
    demands: tuple[float, ...], capacity: float, shares: tuple[float, ...]
) -> None:
    assert metrics.max_min_fair_shares(demands, capacity) == pytest.approx(shares)


def test_max_min_is_the_papers_iteration() -> None:
    """The one-pass form gives what section 7's repeated division gives."""
    demands = [((37 * i) % 101) / 101 for i in range(100)]
    capacity = 30.0
    shares: dict[int, float] = {}
    while True:
        rest = [i for i in range(100) if i not in shares]
        equal = (capacity - sum(shares.values())) / len(rest)
        satisfied = [i for i in rest if demands[i] < equal]
        if not satisfied:
            break
        shares |= {i: demands[i] for i in satisfied}
    expected = [shares.get(i, equal) for i in range(100)]
    assert metrics.max_min_fair_shares(demands, capacity) == pytest.approx(expected)
    assert sum(expected) == pytest.approx(capacity)


@pytest.mark.parametrize(
    ("values", "index"),
    [((1, 1, 1, 1), 1.0), ((1, 0, 0, 0), 0.25), ((3, 1), 0.8), ((0, 0), None), ((), None)],
)
def test_jain_index(values: tuple[float, ...], index: float | None) -> None:
    assert metrics.jain_index(values) == pytest.approx(index)


def test_jain_index_ignores_scale() -> None:
    assert metrics.jain_index((3e7, 1e7)) == pytest.approx(metrics.jain_index((3, 1)))


def test_fairness_leaves_out_connections_without_demand() -> None:
    assert metrics.fairness((1.0, 2.0, 0.0), (1.0, 2.0, 0.0)) == 1.0
    assert metrics.fairness((0.0,), (0.0,)) is None


def test_where_nobody_received_anything_there_is_no_fairness() -> None:
    found = metrics.trial_metrics(
        received_bytes=[0, 0], scheduled_bytes=[10, None], duration_s=1.0, mss_bytes=1024
    )
    assert (found.efficiency, found.fairness) == (0.0, None)


def test_trial_metrics_of_a_trial_worked_by_hand() -> None:
    capacity_bytes = metrics.capacity_bit_per_s(1024) * 100 / 8
    result = metrics.trial_metrics(
        received_bytes=[1000, round(capacity_bytes / 2)],
        scheduled_bytes=[1000, None],
        duration_s=100,
        mss_bytes=1024,
    )
    assert result.throughput_bit_per_s[0] == 80
    assert result.fair_share_bit_per_s[0] == 80
    assert result.efficiency == pytest.approx(0.5, abs=1e-4)
    assert result.fairness == pytest.approx(1.5**2 / (2 * 1.25), abs=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: metrics.capacity_bit_per_s(0),
        lambda: metrics.capacity_bit_per_s(1024, -1),
        lambda: metrics.rates_bit_per_s([1], 0),
        lambda: metrics.max_min_fair_shares([1], 0),
        lambda: metrics.max_min_fair_shares([-1], 1),
        lambda: metrics.max_min_fair_shares([math.nan], 1),
        lambda: metrics.fairness([1, 2], [1]),
        lambda: metrics.trial_metrics(
            received_bytes=[1], scheduled_bytes=[1, 2], duration_s=1, mss_bytes=1024
        ),
    ],
)
def test_impossible_input_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError):
        call()
