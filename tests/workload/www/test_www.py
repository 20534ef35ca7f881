# SPDX-License-Identifier: GPL-2.0-only
"""The schedule of the WWW clients: what 98-0876R1 states, and what a seed promises."""

import itertools
import statistics

import pytest

from workload.errors import WorkloadError
from workload.www.parameters import Parameters
from workload.www.schedule import schedule, scheduled_bytes

PAIRS = 100


@pytest.fixture(scope="module")
def paper():
    return schedule(Parameters(), 1, PAIRS)


def batches(requests):
    found = {}
    for request in requests:
        found.setdefault((request.pair, request.batch), []).append(request)
    return found


def test_a_schedule_is_the_same_on_every_machine_and_in_every_version(paper):
    # Recorded once: a change here changes every published trial.
    first, last = paper[0], paper[-1]
    assert (len(paper), sum(r.size_bytes for r in paper)) == (4930, 598750941)
    assert (first.pair, first.file_class, first.file, first.due_ns) == (1, 1, 4, 0)
    assert (last.pair, last.batch, last.request, last.due_ns) == (78, 9, 7, 92568423364)


def test_every_batch_begins_exactly_on_time(paper):
    found = batches(paper)
    assert set(found) == {(pair, batch) for pair in range(1, PAIRS + 1) for batch in range(10)}
    for (_pair, batch), requests in found.items():
        assert requests[0].due_ns == batch * 10_000_000_000
        assert [r.request for r in requests] == list(range(len(requests)))


def test_batches_and_gaps_are_within_their_bounds(paper):
    found = batches(paper).values()
    assert {len(requests) for requests in found} == set(range(1, 10))
    gaps = [b.due_ns - a.due_ns for rs in found for a, b in itertools.pairwise(rs)]
    assert min(gaps) >= 100_000_000
    assert max(gaps) < 500_000_000
    assert statistics.mean(gaps) == pytest.approx(300e6, rel=0.02)


def test_the_offered_load_is_the_papers():
    """48.1 Mbps; one trial's load has a standard deviation of 2.7 Mbps, the mean of 40 of 0.43."""
    loads = [
        sum(r.size_bytes for r in schedule(Parameters(), seed, PAIRS)) * 8 / 100
        for seed in range(40)
    ]
    assert statistics.mean(loads) == pytest.approx(48.128e6, abs=4 * 0.43e6)


def test_it_is_sorted_by_due_time_then_pair(paper):
    keys = [(r.due_ns, r.pair, r.batch, r.request) for r in paper]
    assert keys == sorted(keys)
    assert [r.pair for r in paper[:PAIRS]] == list(range(1, PAIRS + 1))


def test_other_seeds_offer_other_loads(paper):
    assert schedule(Parameters(), 2, PAIRS) != paper


def test_more_pairs_leave_the_first_ones_alone(paper):
    assert schedule(Parameters(), 1, 10) == tuple(r for r in paper if r.pair <= 10)


def test_a_longer_trial_goes_on_where_the_shorter_ended(paper):
    longer = schedule(Parameters(duration_s=120.0), 1, PAIRS)
    assert tuple(r for r in longer if r.due_ns < 100_000_000_000) == paper


@pytest.mark.parametrize(
    "change", [{"poisson_fit": "redraw"}, {"requests_mean": 3.0}, {"requests_max": 20}]
)
def test_another_reading_changes_how_many_but_not_which(paper, change):
    """Common random numbers: what both schedules ask for is asked for at the same time."""
    other = {(r.pair, r.batch, r.request): r for r in schedule(Parameters(**change), 1, PAIRS)}
    same = [r for r in paper if (r.pair, r.batch, r.request) in other]
    assert len(same) > 0
    assert len(other) != len(paper)
    for request in same:
        twin = other[request.pair, request.batch, request.request]
        assert (twin.due_ns, twin.file_class) == (request.due_ns, request.file_class)


def test_jitter_moves_whole_clients_by_less_than_its_bound(paper):
    moved = batches(schedule(Parameters(first_batch="jitter", jitter_ms=10.0), 1, PAIRS))
    shifts = {}
    for (pair, batch), requests in moved.items():
        shifts.setdefault(pair, set()).add(requests[0].due_ns - batch * 10_000_000_000)
    assert all(len(of_pair) == 1 for of_pair in shifts.values())
    flat = [shift for of_pair in shifts.values() for shift in of_pair]
    assert len(set(flat)) == PAIRS
    assert min(flat) >= 0
    assert 9_000_000 < max(flat) < 10_000_000


def test_spread_starts_clients_over_a_whole_period_and_ends_in_time():
    requests = schedule(Parameters(first_batch="spread"), 1, PAIRS)
    starts = [rs[0].due_ns for (_pair, batch), rs in batches(requests).items() if batch == 0]
    assert len(starts) == PAIRS
    assert min(starts) < 1_000_000_000
    assert 9_000_000_000 < max(starts) < 10_000_000_000
    assert max(r.due_ns for r in requests) < 100_000_000_000
    # The last client's tenth batch begins at 90 s and more: some of it falls behind the end.
    assert len(requests) < len(schedule(Parameters(first_batch="spread", duration_s=110), 1, PAIRS))


def test_scheduled_bytes_are_summed_by_pair(paper):
    totals = scheduled_bytes(paper, PAIRS)
    assert len(totals) == PAIRS
    assert sum(totals) == 598750941
    assert totals[77] == sum(r.size_bytes for r in paper if r.pair == 78)
    assert scheduled_bytes((), 3) == (0, 0, 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("duration_s", 0.0),
        ("duration_s", float("nan")),
        ("duration_s", "100"),
        ("duration_s", True),
        ("period_s", -1.0),
        ("requests_mean", 9.0),
        ("requests_mean", 1),
        ("requests_min", 9),
        ("requests_min", -1),
        ("requests_max", 1001),
        ("requests_max", 9.5),
        ("gap_min_ms", 501.0),
        ("gap_max_ms", 1e9),
        ("request_bytes", 63),
        ("request_bytes", 1025),
        ("poisson_fit", "exact"),
        ("poisson_fit", 1),
        ("first_batch", "later"),
        ("server_stream", "apache"),
        ("jitter_ms", 10001.0),
    ],
)
def test_bad_parameters_are_one_line_that_names_the_key(key, value):
    with pytest.raises(
        ValueError, match=rf"^workload\.{key}[^\n]*(must be|allowed are|one of)[^\n]*$"
    ):
        Parameters(**{key: value})


def test_an_unknown_key_is_an_error():
    with pytest.raises(TypeError, match="think_time"):
        Parameters(think_time=1)


def test_no_pairs_no_schedule():
    with pytest.raises(WorkloadError, match="pairs = 0: must be"):
        schedule(Parameters(), 1, 0)
