# SPDX-License-Identifier: GPL-2.0-only
"""Each parameter of the module changes what it says, and nothing else does it."""

from __future__ import annotations

import pytest

from harness.exact_loss.host import Outcome
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from tests.flavors.runner import Runner

pytestmark = pytest.mark.lab

LINK = Link()
ROUND_TRIP_S = 0.1
SEGMENT = 1000
SECOND_NS = 1_000_000_000
TICK_S = 0.1
DELAY_S = LINK.delay_ns / 1e9
# The module's timer is exact; the kernel's own is late by up to an eighth and two jiffies.
EXACT_S = 0.000_1
KERNEL_LATE_S = 2.5 / 8 + 0.02


def one(
    run: Runner,
    flavor: str,
    *,
    writes: list[tuple[int, int]] | None = None,
    initcwnd: int = 1,
    ssthresh: int = 60,
    drops: dict[int, list[int]] | None = None,
    **parameters: object,
) -> Outcome:
    """One connection; 40 segments unless writes are given."""
    connection = Connection(
        id=f"{flavor} {parameters}",
        flavor=flavors.load(flavor).with_parameters(parameters).for_hosts(),
        payload_bytes=SEGMENT,
        writes=writes or [(0, 40 * SEGMENT)],
        initcwnd=initcwnd,
        ssthresh=ssthresh,
        drops=drops or {},
    )
    return run([connection], LINK)[0]


def times(outcome: Outcome, segment: int) -> list[float]:
    return [s.time_s for s in outcome.sent if s.segment == segment]


def before_the_last_s(outcome: Outcome) -> float:
    """When the ACK of all but the last segment came to the sender."""
    return next(a.time_s for a in outcome.acks if a.acked_bytes == 39 * SEGMENT) + DELAY_S


@pytest.mark.parametrize(
    ("parameters", "first_s"),
    [
        ({"rto_first_ms": 3000}, 3.0),
        ({"rto_first_ms": 1500}, 1.5),
        # The handshake's 100 ms: 1 + 1 tick, plus 4 * half of it.
        ({"rto_first_sample": "handshake"}, 0.6),
        ({"rto_first_sample": "handshake", "rto_min_ticks": 10}, 1.0),
        ({"rto_first_ms": 2500, "rto_tick_ms": 0}, 2.5),
        ({"rto_first_ms": 0}, 1.0),
    ],
)
def test_the_rto_before_the_first_sample(run_connections: Runner, parameters, first_s: float):
    outcome = one(run_connections, "vanilla", drops={0: [0]}, **parameters)
    gap = times(outcome, 0)[1] - times(outcome, 0)[0]
    late_s = KERNEL_LATE_S if parameters.get("rto_tick_ms") == 0 else EXACT_S
    assert first_s <= gap <= first_s + late_s


@pytest.mark.parametrize(("tick_ms", "min_ticks", "rto_s"), [
    (100, 2, 0.4),  # srtt 1 tick, deviation term 3, after 14 round trips of 1 tick and a bit
    (100, 7, 0.7),
    (100, 12, 1.2),
    (500, 2, 1.5),  # less than a tick: srtt 0, deviation term 3
])  # fmt: skip
def test_the_rto_is_a_multiple_of_the_tick_from_when_it_is_set(
    run_connections: Runner, tick_ms: int, min_ticks: int, rto_s: float
):
    """The last segment of a transfer is lost: the timer runs from the ACK before it."""
    outcome = one(
        run_connections, "sack", drops={39: [0]}, rto_tick_ms=tick_ms, rto_min_ticks=min_ticks
    )
    gap = times(outcome, 39)[1] - before_the_last_s(outcome)
    assert rto_s <= gap <= rto_s + EXACT_S


@pytest.mark.parametrize(("clock", "apart"), [("common", False), ("own", True)])
def test_timeouts_of_a_common_clock_come_at_its_ticks(
    run_connections: Runner, clock: str, apart: bool
):
    """The first and the last segment are lost. Their sendings are not whole ticks apart."""
    drops = {0: [0], 39: [0]}
    outcome = one(run_connections, "vanilla", drops=drops, rto_clock=clock, rto_min_ticks=5)
    begun, first = times(outcome, 0)
    sent, last = times(outcome, 39)
    assert abs((sent - begun) / TICK_S - round((sent - begun) / TICK_S)) > 0.01
    between = (last - first) / TICK_S
    assert (abs(between - round(between)) > EXACT_S / TICK_S) == apart
    if clock == "common":
        assert 2.9 < first - begun <= 3.0 + EXACT_S
        assert 0.4 < last - before_the_last_s(outcome) <= 0.5 + EXACT_S


def test_the_rto_doubles(run_connections: Runner):
    outcome = one(run_connections, "vanilla", drops={0: [0, 1, 2]}, rto_first_ms=1000)
    sent = times(outcome, 0)
    gaps = [after - before for before, after in zip(sent, sent[1:], strict=False)]
    for gap, expected in zip(gaps, (1.0, 2.0, 4.0), strict=True):
        assert expected <= gap <= expected + EXACT_S


@pytest.mark.parametrize(("rule", "rto_s"), [("valid_sample", 0.8), ("any_ack", 0.4)])
def test_when_the_backoff_ends(run_connections: Runner, rule: str, rto_s: float):
    """20 to 35 are lost, 21 twice: only ACKs of resent segments before the second timeout."""
    drops = {segment: [0] for segment in range(20, 36)}
    drops[21] = [0, 1]
    outcome = one(run_connections, "vanilla", drops=drops, backoff_clear=rule)
    assert outcome.timeouts == 2
    first, second = times(outcome, 21)[1:3]
    # Resent on the ACK of 20, which also sets the timer.
    assert rto_s <= second - first <= rto_s + EXACT_S


def test_the_window_after_idle(run_connections: Runner):
    """Twenty segments, five seconds of silence, twenty more at once."""
    writes = [(0, 20 * SEGMENT), (5 * SECOND_NS, 20 * SEGMENT)]
    for restart, at_once in ((False, 20), (True, 1)):
        outcome = one(run_connections, "reno", writes=writes, idle_restart=restart)
        burst = [s for s in outcome.sent if 5.0 <= s.time_s < 5.0 + ROUND_TRIP_S / 2]
        assert len(burst) == at_once, restart


def test_growth_while_the_application_limits(run_connections: Runner):
    """One segment each 200 ms, twelve times; then a burst shows the window."""
    writes = [(i * SECOND_NS // 5, SEGMENT) for i in range(12)]
    writes.append((3 * SECOND_NS, 40 * SEGMENT))
    windows = {}
    for grow in (False, True):
        outcome = one(run_connections, "reno", writes=writes, grow_app_limited=grow)
        burst = [s for s in outcome.sent if 3.0 <= s.time_s < 3.0 + ROUND_TRIP_S / 2]
        windows[grow] = len(burst)
    assert windows == {False: 2, True: 13}


def test_the_initial_ssthresh_from_the_route(run_connections: Runner):
    """Without it slow start goes on: 1, 2, 4, 8, 16; with 4 it is 1, 2, 4, 5, 6."""
    for wanted, fifth in ((True, 6), (False, 16)):
        outcome = one(run_connections, "reno", ssthresh=4, ssthresh_from_route=wanted)
        fifth_round = [s for s in outcome.sent if int(s.time_s / ROUND_TRIP_S) == 4]
        assert len(fifth_round) == fifth


def test_what_ssthresh_is_half_of(run_connections: Runner):
    """Twelve segments one by one leave cwnd 13; then four, the first of them lost twice.

    Half of what is outstanding is 2. Half of cwnd is 6 for the first timeout, and for the
    second one, of a window of one segment, 2 again.
    """
    writes = [(i * SECOND_NS // 5, SEGMENT) for i in range(12)]
    writes.append((3 * SECOND_NS, 4 * SEGMENT))
    for rule, sendings, ssthresh in (
        ("flight", [0], 2), ("window", [0], 6), ("flight", [0, 1], 2), ("window", [0, 1], 2),
    ):  # fmt: skip
        outcome = one(
            run_connections, "vanilla", writes=writes, drops={12: sendings}, ssthresh_rule=rule
        )
        assert outcome.timeouts == len(sendings)
        assert outcome.info["ssthresh"] == ssthresh, (rule, sendings)


def test_ssthresh_is_not_halved_twice_for_one_segment(run_connections: Runner):
    """Of a window of 20 the first is lost twice: 10, or halved again from one segment."""
    for rule, ssthresh in (("flight", 10), ("window", 2)):
        outcome = one(
            run_connections, "vanilla", initcwnd=20, ssthresh=20, drops={0: [0, 1]},
            ssthresh_rule=rule,
        )  # fmt: skip
        assert outcome.info["ssthresh"] == ssthresh, rule


def test_the_scoreboard_after_a_timeout(run_connections: Runner):
    """Of a window of 20, 0 is lost twice and 10 once; all the others are SACKed.

    Go back N sends 0 and, as the window opens, 10 and 11; who keeps the scoreboard knows
    that 11 has arrived.
    """
    again = {}
    for rule in ("go_back_n", "keep_scoreboard"):
        outcome = one(
            run_connections, "sack", initcwnd=20, ssthresh=20, writes=[(0, 20 * SEGMENT)],
            drops={0: [0, 1], 10: [0, 1]}, after_timeout=rule,
        )  # fmt: skip
        assert outcome.timeouts == 1
        after = [s for s in outcome.sent if s.sending and s.time_s > 1.0]
        again[rule] = [s.segment for s in after]
    assert again == {"go_back_n": [0, 10, 11], "keep_scoreboard": [0, 10]}


def test_a_hole_with_less_than_three_segments_above(run_connections: Runner):
    """The last but one of the data is lost, with an earlier one: one segment is above it."""
    for rule, timeouts in (("pipe", 0), ("three_above", 1)):
        outcome = one(
            run_connections, "sack", initcwnd=20, ssthresh=20, writes=[(0, 20 * SEGMENT)],
            drops={5: [0], 18: [0]}, sack_retransmit=rule,
        )  # fmt: skip
        assert outcome.timeouts == timeouts, rule
        assert outcome.retransmitted == (5, 18)


def test_pipe_begins_with_the_window(run_connections: Runner):
    """Twelve segments one by one leave cwnd 13, then eight of which 12 and 13 are lost.

    By what is outstanding PIPE is 8 - 3 and soon below half of 8. By the text it is 13 - 3, 7
    on the sixth duplicate ACK, 8 with 12 sent again, 6 on the partial ACK: 13 never leaves.
    """
    writes = [(i * SECOND_NS // 5, SEGMENT) for i in range(12)]
    writes.append((3 * SECOND_NS, 8 * SEGMENT))
    for rule, timeouts in (("bytes", 0), ("segments", 1)):
        outcome = one(
            run_connections, "sack", writes=writes, drops={12: [0], 13: [0]}, sack_pipe=rule
        )
        assert (outcome.recoveries, outcome.timeouts) == (1, timeouts), rule


@pytest.mark.parametrize(("rule", "sendings", "timeouts"), [
    ("never", 2, 0),
    ("always", 3, 0),
    ("after_rtt", 2, 0),
])  # fmt: skip
def test_a_hole_sent_a_third_time_on_a_partial_ack(
    run_connections: Runner, rule: str, sendings: int, timeouts: int
):
    """0 and 1 are lost and sent again one after the other: the partial ACK for 0 comes when
    1 has just left."""
    outcome = one(
        run_connections, "sack", initcwnd=20, ssthresh=20, drops={0: [0], 1: [0]},
        sack_resend_on_partial=rule,
    )  # fmt: skip
    assert (len(times(outcome, 1)), outcome.timeouts) == (sendings, timeouts)


def test_newrenos_window_on_a_partial_ack(run_connections: Runner):
    """Deflated, a new segment goes with the next hole; at ssthresh, none does."""
    for rule, new in (("deflate", 1), ("reset", 0)):
        outcome = one(
            run_connections, "newreno", initcwnd=20, ssthresh=20, drops={0: [0], 4: [0]},
            newreno_partial=rule,
        )  # fmt: skip
        at = times(outcome, 4)[1]
        together = [s for s in outcome.sent if not s.sending and abs(s.time_s - at) < 1e-4]
        assert len(together) == new, rule


@pytest.mark.parametrize("flavor", ["reno", "newreno", "sack"])
def test_a_fast_retransmit_while_a_timeout_is_repaired(run_connections: Runner, flavor: str):
    """Of a window of 20 the first is lost twice, and the timer is early: the duplicate ACKs
    of what left before the timeout start a recovery, or do not."""
    recoveries = {}
    for multiple in (False, True):
        outcome = one(
            run_connections, flavor, initcwnd=20, ssthresh=20, drops={0: [0, 1]},
            rto_first_ms=150, rto_tick_ms=10, multiple_fast_retransmits=multiple,
        )  # fmt: skip
        recoveries[multiple] = outcome.recoveries
    assert recoveries[True] > recoveries[False], recoveries


def test_hoes_flywheel(run_connections: Runner):
    """New segments before half the window's duplicate ACKs are in: every second one."""
    first = {}
    for turns in (False, True):
        outcome = one(
            run_connections, "newreno", initcwnd=20, ssthresh=20, drops={0: [0]},
            newreno_flywheel=turns,
        )  # fmt: skip
        new = next(s for s in outcome.sent if s.segment == 20)
        arrivals = [a.time_s + LINK.delay_ns / 1e9 for a in outcome.acks[1:]]
        first[turns] = sum(t <= new.time_s for t in arrivals)
    assert first == {False: 11, True: 5}


def test_a_window_in_bytes_sends_short_segments(run_connections: Runner):
    """ssthresh 4: the fifth window is 4 segments and mss * mss / cwnd bytes, and so on."""
    outcome = one(run_connections, "reno", ssthresh=4, byte_window=True)
    assert {s.length for s in outcome.sent[:7]} == {SEGMENT}
    runts = [s.length for s in outcome.sent if s.length < SEGMENT]
    # Slow start ends at 4 segments; then cwnd = 4000 + 250, which leaves room for 250.
    assert runts[0] == SEGMENT * SEGMENT // (4 * SEGMENT)
    full = one(run_connections, "reno", ssthresh=4)
    assert {s.length for s in full.sent} == {SEGMENT}


@pytest.mark.parametrize("flavor", ["reno", "newreno", "sack"])
def test_what_is_sent_again_is_cut_from_the_first_byte_missing(
    run_connections: Runner, flavor: str
):
    """In congestion avoidance the window is full segments and runts; one runt is lost."""
    writes = [(0, 60 * SEGMENT)]
    whole = one(run_connections, flavor, writes=writes, ssthresh=4, byte_window=True)
    runt = next(s for s in whole.sent if s.length < SEGMENT and s.byte > 20 * SEGMENT)
    lengths = {}
    for rule in ("kept", "anew"):
        outcome = one(
            run_connections, flavor, writes=writes, ssthresh=4, byte_window=True,
            drops={runt.segment: [runt.sending]}, resend_boundaries=rule,
        )  # fmt: skip
        lost = [s for s in outcome.sent if s.dropped]
        again = [s for s in outcome.sent if s.byte == lost[0].byte and not s.dropped]
        assert [s.byte for s in lost] == [runt.byte]
        lengths[rule] = (lost[0].length, again[0].length)
    # Kept, it may be joined to a whole runt behind it.
    assert runt.length <= lengths["kept"][1] < SEGMENT
    # With SACK the hole is as long as what was lost.
    assert lengths["anew"] == (runt.length, runt.length if flavor == "sack" else SEGMENT)


def test_running_connections_keep_the_parameters_they_began_with(run_connections: Runner):
    """Two flavors after each other in one lab: the second's values do not reach the first's."""
    slow = flavors.load("vanilla").with_parameters({"rto_first_ms": 2000}).for_hosts()
    quick = flavors.load("vanilla").with_parameters({"rto_first_ms": 1000}).for_hosts()
    connections = [
        Connection(
            id=str(i), flavor=flavor, writes=[(0, SEGMENT)], initcwnd=1, ssthresh=60, drops={0: [0]}
        )
        for i, flavor in enumerate((slow, quick, slow))
    ]  # fmt: skip
    gaps = [times(o, 0)[1] for o in run_connections(connections, LINK)]
    assert [round(gap) for gap in gaps] == [2, 1, 2]
