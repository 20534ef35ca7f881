# SPDX-License-Identifier: GPL-2.0-only
"""The model by itself: what the literature says of it, as rules over many windows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.ubrplus_1998.model.sack import Sack
from tests.flavors import oracle

ROUND_TRIP_S = 0.1
settings.register_profile("busy machine", deadline=None)
settings.load_profile("busy machine")

# The first window of these transfers is full at once: what is lost is lost from it.
WINDOWS = st.integers(min_value=6, max_value=30)


@st.composite
def losses(draw: st.DrawFn) -> tuple[int, tuple[int, ...]]:
    """A window, and one to five segments of it, the first one among them."""
    window = draw(WINDOWS)
    others = st.sets(st.integers(min_value=1, max_value=window - 1), max_size=4)
    return window, (0, *sorted(draw(others)))


def simulate(flavor: str, window: int, lost: tuple[int, ...], **more: object) -> oracle.Simulation:
    return oracle.simulate(
        oracle.Setup(
            flavor=flavor,
            total_bytes=200 * 1000,
            initcwnd=window,
            ssthresh=window,
            drops={segment: frozenset([0]) for segment in lost},
            **more,  # type: ignore[arg-type]
        )
    )


def resent(simulation: oracle.Simulation) -> list[oracle.Sent]:
    return [s for s in simulation.sent if s.sending > 0]


@given(losses())
def test_vanilla_always_times_out_once(case: tuple[int, tuple[int, ...]]):
    assert simulate("vanilla", *case).sender.timeouts == 1


@given(losses())
def test_reno_repairs_one_loss_two_in_a_wide_window_and_no_more(
    case: tuple[int, tuple[int, ...]],
):
    window, lost = case
    timeouts = simulate("reno", window, lost).sender.timeouts
    if len(lost) == 1 or (len(lost) == 2 and window >= 10):
        assert timeouts == 0
    elif len(lost) >= 3 and window <= 20:
        # A wider window is still wide enough after two halvings for a third recovery.
        assert timeouts == 1


@given(losses())
def test_newreno_needs_a_round_trip_for_each_loss_and_no_timeout(
    case: tuple[int, tuple[int, ...]],
):
    window, lost = case
    simulation = simulate("newreno", window, lost)
    if window - len(lost) < oracle.DUPTHRESH:
        return  # too few duplicate ACKs to notice
    assert simulation.sender.timeouts == 0
    assert [s.byte // 1000 for s in resent(simulation)] == list(lost)
    times = [s.time_s for s in resent(simulation)]
    for before, after in zip(times, times[1:], strict=False):
        assert ROUND_TRIP_S <= after - before < 1.5 * ROUND_TRIP_S


@given(losses(), st.sampled_from(["pipe", "three_above"]))
def test_sack_repairs_without_a_timeout_and_resends_only_what_was_lost(
    case: tuple[int, tuple[int, ...]], rule: str
):
    window, lost = case
    if window < 12:
        return  # the halved window may be too small for the last holes
    simulation = simulate("sack", window, lost, sack_rule=rule)
    assert simulation.sender.timeouts == 0
    assert sorted(s.byte // 1000 for s in resent(simulation)) == list(lost)


@given(losses(), st.sampled_from(sorted(oracle.SENDERS)), st.booleans())
@settings(max_examples=200)
def test_everything_arrives_and_nothing_is_sent_beyond_the_data(
    case: tuple[int, tuple[int, ...]], flavor: str, byte_window: bool
):
    simulation = simulate(flavor, *case, byte_window=byte_window)
    assert simulation.receiver.next == 200 * 1000
    assert max(s.byte + s.length for s in simulation.sent) == 200 * 1000
    assert {s.length for s in simulation.sent if not byte_window} <= {1000}


@given(st.integers(min_value=1, max_value=60), st.integers(min_value=2, max_value=60))
def test_without_losses_slow_start_doubles_up_to_ssthresh(initcwnd: int, ssthresh: int):
    simulation = oracle.simulate(
        oracle.Setup(
            flavor="reno", total_bytes=300_000, initcwnd=initcwnd, ssthresh=ssthresh, drops={}
        )
    )
    assert simulation.sender.timeouts == simulation.sender.recoveries == 0
    first = [s for s in simulation.sent if s.time_s == 0]
    assert len(first) == min(initcwnd, 300)


@pytest.mark.parametrize(
    ("rtts", "rto_ticks"),
    [
        # ticks = 1 + floor(rtt / tick); first: srtt = ticks, 4 rttvar = 2 ticks
        ([0.05], 1 + 2),
        ([0.25], 3 + 6),
        # second sample, the same: d = 3 - 1 - 3 = -1: srtt8 = 23, rttvar4 = 6 + 1 - 1
        ([0.25, 0.25], 2 + 6),
        ([0.05] * 30, 0 + 3),  # the integer estimator's fixed point
    ],
)
def test_the_estimator_by_hand(rtts: list[float], rto_ticks: int):
    setup = oracle.Setup(flavor="reno", total_bytes=1, initcwnd=1, ssthresh=2, drops={})
    estimator = oracle.Estimator(setup)
    assert estimator.rto_s() == 3.0
    for rtt in rtts:
        estimator.sample(rtt)
    assert estimator.rto_s() == pytest.approx(rto_ticks * 0.1)
    estimator.back_off()
    assert estimator.rto_s() == pytest.approx(2 * rto_ticks * 0.1)


TABLE = {"total_bytes": 60_000, "initcwnd": 12, "ssthresh": 12, "pipe_segments": True}
"""SACK of 98-0876R1, 3.2: twelve segments at once."""


def begun() -> Sack:
    """A sender of twelve segments that nothing is known of."""
    sender = Sack(oracle.Setup(flavor="sack", drops={}, **TABLE))  # type: ignore[arg-type]
    sender.send()
    sender.outbox.clear()
    return sender


def acknowledge(sender: Sack, segments: int, *blocks: tuple[int, int]) -> None:
    """An ACK of so many segments, with blocks from a segment to one past the last."""
    sender.ack(segments * 1000, tuple((first * 1000, end * 1000) for first, end in blocks))


def test_by_the_table_the_third_duplicate_ack_begins_a_recovery() -> None:
    """ "When the sender receives three duplicate ACKs, it retransmits", whatever is SACKed."""
    sender = begun()
    for segments, block in ((0, (2, 3)), (0, (2, 4)), (1, (2, 5)), (1, (2, 6)), (1, (2, 7))):
        acknowledge(sender, segments, block)
    assert len(sender.scoreboard) == 5 and not sender.in_recovery
    acknowledge(sender, 1, (2, 8))
    assert sender.in_recovery and [d.byte for d in sender.outbox] == [12_000, 1000]


def test_by_the_table_any_hole_is_sent_before_new_data() -> None:
    """ "It first tries to retransmit the holes in the SACK blocks before sending any new"."""
    sender = begun()
    for end in range(2, 13):
        acknowledge(sender, 0, (1, end))
    assert sender.max > 14_000
    sender.outbox.clear()
    acknowledge(sender, 0, (13, 14), (1, 12))
    assert sender.outbox[0].byte == 12_000


def test_by_the_table_new_data_of_a_recovery_leaves_in_whole_segments() -> None:
    """ "Sends data (new or retransmitted) only when PIPE is less than CWND"."""
    simulation = simulate_table({3: frozenset([0])})
    begin = [s.time_s for s in simulation.sent if s.byte == 3000][1]
    before = {s.length for s in simulation.sent if s.time_s < begin}
    during = {s.length for s in simulation.sent if begin < s.time_s < begin + ROUND_TRIP_S}
    assert len(before) > 1 and during == {1000}  # windows in bytes have short ones


def test_by_the_table_a_segment_is_sent_again_as_it_was() -> None:
    """ "The sender keeps a table of all the segments sent"."""
    simulation = simulate_table({number: frozenset([0]) for number in (20, 21, 22)})
    lengths: dict[int, list[int]] = {}
    for sent in simulation.sent:
        lengths.setdefault(sent.byte, []).append(sent.length)
    again = [found for found in lengths.values() if len(found) > 1]
    assert simulation.sender.timeouts == 0 and simulation.sender.recoveries > 0
    assert all(len(set(found)) == 1 for found in again)
    assert len({found[0] for found in again}) > 1  # short ones among them


def simulate_table(drops: dict[int, frozenset[int]]) -> oracle.Simulation:
    setup = oracle.Setup(flavor="sack", drops=drops, byte_window=True, recut=True, **TABLE)  # type: ignore[arg-type]
    return oracle.simulate(setup)
