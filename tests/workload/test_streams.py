# SPDX-License-Identifier: GPL-2.0-only
"""Named random streams: pinned, independent, told apart by every name."""

import itertools

import pytest

from workload.streams import stream


def test_a_stream_is_the_same_on_every_machine_and_in_every_version():
    # Recorded once: a change here changes every published trial.
    assert stream(1, "www", "gap", 7, 3).random() == 0.6933841607692901


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, "a"), (2, "a")),
        ((1, "a", "b"), (1, "ab")),
        ((1, "a", 1), (1, "a", "1")),
        ((1, "a", 12, 3), (1, "a", 1, 23)),
        ((1,), (1, "")),
    ],
)
def test_other_names_or_seeds_give_other_draws(one, other):
    assert stream(*one).random() != stream(*other).random()


def test_draws_of_one_stream_do_not_shift_another():
    quiet = stream(5, "b").random()
    busy = stream(5, "a")
    for _ in range(1000):
        busy.random()
    assert stream(5, "b").random() == quiet


def test_first_draws_of_many_streams_are_uniform():
    drawn = [stream(9, "pair", i).random() for i in range(2000)]
    tenths = [sum(low <= 10 * u < low + 1 for u in drawn) for low in range(10)]
    # Standard deviation of a tenth is 13.4: four of them.
    assert all(abs(count - 200) < 54 for count in tenths)
    pairs = itertools.pairwise(drawn)
    correlation = sum((a - 0.5) * (b - 0.5) for a, b in pairs) / len(drawn) * 12
    assert abs(correlation) < 4 / len(drawn) ** 0.5
