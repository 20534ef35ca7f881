# SPDX-License-Identifier: GPL-2.0-only
"""What a moving path could carry, when it is silent, and its pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File

import pytest
from matplotlib.figure import Figure

from analysis import moving_path, read_campaign
from analysis.records import Trial
from analysis.report import path_plots
from plan.facts import TrialFacts, read
from plan.path import Path, Row, Way, of_rows
from tests.analysis import synthetic
from topology.shapes import multihomed

S = 1_000_000
HANDOVER = of_rows(
    [
        Row(0, 8_000_000, 20_000, 0.0, 0),
        Row(2 * S, 0, 30_000, 0.0, 0),
        Row(2 * S + S // 2, 4_000_000, 30_000, 0.0, 0),
    ],
    period_us=5 * S,
)
TRACE = of_rows(
    [Row(0, 0, 0, 0.0, 0), Row(S, 0, 0, 0.0, 12_000), Row(2 * S, 0, 0, 0.0, 12_000)], 2 * S + 1
)


@pytest.mark.parametrize(
    ("time_s", "bits"),
    [(0, 0), (1, 8e6), (2, 16e6), (2.25, 16e6), (2.5, 16e6), (3.5, 20e6), (5, 26e6), (6, 34e6)],
)
def test_what_the_link_could_carry_by_a_time(time_s: float, bits: float) -> None:
    """Also in the second round; by the last row alone where the path does not repeat."""
    assert moving_path.carried_bits(HANDOVER, [time_s]) == pytest.approx([bits])


def test_without_a_period_the_last_row_holds() -> None:
    once = replace(HANDOVER, period_us=0)
    assert moving_path.carried_bits(once, [10.5]) == pytest.approx([16e6 + 8 * 4e6])


def test_bits_at_once_count_from_their_moment() -> None:
    assert moving_path.carried_bits(TRACE, [0.999, 1, 1.5, 2, 3.1]).tolist() == [
        0, 12_000, 12_000, 24_000, 36_000,
    ]  # fmt: skip


def test_the_mean_rate_of_an_interval() -> None:
    assert moving_path.mean_rate_bit_per_s(HANDOVER, 1, 3) == pytest.approx((8e6 + 2e6) / 2)


def test_outages_begin_in_each_round() -> None:
    """One of two silent rows, one after the other, is one outage; bits at once are none."""
    rows = [*HANDOVER.rows()]
    rows.insert(2, rows[1]._replace(time_us=2 * S + 1, delay_us=40_000))
    assert moving_path.outages_s(of_rows(rows, 5 * S), 10) == [2, 7]
    assert moving_path.outages_s(TRACE, 2) == [0]


def test_a_silence_ends_with_the_next_rate_or_with_the_interval() -> None:
    assert moving_path.silences_s(HANDOVER, 7.25) == [(2, 2.5), (7, 7.25)]
    assert moving_path.silences_s(TRACE, 2) == [(0, 1)]


def trial_on(tmp_path: File, way: Way, late_s: int = 0) -> Trial:
    """A made record, of which the plan has a path; the trial starts at late_s of the path."""
    synthetic.write_campaign(
        tmp_path, cells=dict([*synthetic.paper_cells().items()][:1]), seeds=[1]
    )
    [trial] = read_campaign(tmp_path).trials
    topology = replace(trial.plan.topology, path=Path(down=way, up=way))
    told = {"source": {"t0_ns": 9 * 10**9}, "path": {"origin_ns": (9 - late_s) * 10**9}}
    facts = read(TrialFacts, {**trial.facts.table, **told})
    return replace(trial, plan=replace(trial.plan, topology=topology), facts=facts)


def test_a_silence_may_hold_at_the_start_of_a_late_trial() -> None:
    assert moving_path.silences_s(HANDOVER, 6, begin_s=2.25) == [(0, 0.25), (4.75, 5.25)]


def test_of_many_delays_the_smallest_and_largest_are_kept() -> None:
    delays = [20_000] * 10_000
    delays[4_321] = 230_000
    way = Way(times_us=range(10_000), rates_bit_per_s=[S], delays_us=[*delays[:-1], 30_000])
    for most in (100, 20_000):
        times_s, delays_ms = moving_path.delays_ms(way, 0.0, 1.0, most)
        spike = list(delays_ms).index(230)
        assert (times_s[spike], delays_ms[-1], times_s[-1]) == (0.004321, 30, 0.009999)
        assert times_s[0] == 0 and len(times_s) <= most
    fast = of_rows([Row(0, S, 1_000, 0.0, 0), Row(1, S, 2_000, 0.0, 0)], period_us=2)
    times_s, delays_ms = moving_path.delays_ms(fast, 0.0, 3_600.0, 100)
    assert (len(times_s), min(delays_ms), max(delays_ms)) == (100, 1, 2)
    assert moving_path.silences_s(fast, 3_600.0) == []


def test_a_trial_that_starts_late_shows_the_path_by_its_own_clock(tmp_path: File) -> None:
    """The link is silent from 2 to 2.5 s of the path, which are 1 to 1.5 s of the trial."""
    late = path_plots.delay(trial_on(tmp_path, HANDOVER, late_s=1))
    assert late is not None
    axes = Figure().subplots()
    late.paint(axes)
    assert [axes.lines[0].get_xdata()[at] for at in range(3)] == [0, 1, 4]


def test_pictures_of_a_path(tmp_path: File) -> None:
    trial = trial_on(tmp_path, HANDOVER)
    rate, delay = path_plots.rate(trial), path_plots.delay(trial)
    # A step is 2/3 s long: in the least of them the link is silent for 1/2 s, then has 4 Mbit/s.
    assert rate is not None and "from 1.0 to 8.0 Mbit/s" in rate.alt
    assert delay is not None and "to the clients 20.0 to 30.0 ms" in delay.alt
    still = replace(
        trial, plan=replace(trial.plan, topology=replace(trial.plan.topology, path=None))
    )
    assert path_plots.rate(still) is None and path_plots.delay(still) is None


@pytest.mark.parametrize(("pairs", "told"), [(0, None), (100, "all pairs")])
def test_the_picture_has_the_throughput_only_if_it_was_sampled(
    tmp_path: File, pairs: int, told: str | None
) -> None:
    trial = trial_on(tmp_path, HANDOVER)
    synthetic.write_throughput(trial.folder, pairs)
    rate = path_plots.rate(trial)
    assert rate is not None
    assert rate.alt.endswith(f"Mbit/s, and the throughput of {told}." if told else " Mbit/s.")


def test_with_two_links_the_throughput_is_of_the_pairs_over_the_moving_link(tmp_path: File) -> None:
    trial = trial_on(tmp_path, HANDOVER)
    two = multihomed.Settings(
        pairs=1, single_pairs=[1, 0], rate_bit_per_s=[8_000_000], delay_us=[20_000], mss_bytes=1024
    ).plan()
    topology = replace(two, path=trial.plan.topology.path)
    synthetic.write_throughput(trial.folder, topology.pairs)
    rate = path_plots.rate(replace(trial, plan=replace(trial.plan, topology=topology)))
    assert rate is not None
    assert rate.alt.endswith("and the throughput of the pairs that cross it.")
