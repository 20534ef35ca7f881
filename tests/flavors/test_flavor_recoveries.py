# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's senders against the literature, segment by segment, with exact losses."""

from __future__ import annotations

import random

import pytest

from harness.exact_loss import host as exact_loss
from harness.exact_loss.host import Outcome
from harness.exact_loss.job import Connection, Link
from harness.flavors import check as flavors_check
from harness.flavors import files as flavors
from tests.flavors.runner import NEEDS_VM, Runner

pytestmark = pytest.mark.lab

CLASSIC = ("vanilla", "reno", "newreno", "sack")
LINK = Link()  # 10 Mbit/s, 101 ms
ROUND_TRIP_S = 0.1
SEGMENT = 1000

# Fall & Floyd, figures 2 to 5: what is sent again, recoveries, timeouts.
NAMED = {
    "vanilla": {
        (14,): ((14,), 0, 1),
        (14, 28): ((14, 28), 0, 1),
        (14, 26, 28): ((14, 26, 27, 28), 0, 1),
        (14, 24, 26, 28): ((14, 24, 25, 26, 27, 28), 0, 1),
        (20, 21, 22): ((20, 21, 22, 23, 24), 0, 1),
    },
    "reno": {
        (14,): ((14,), 1, 0),
        (14, 28): ((14, 28), 2, 0),
        (14, 26, 28): ((14, 26, 28), 2, 1),
        (14, 24, 26, 28): ((14, 24, 26, 28, 29), 2, 1),
        (20, 21, 22): ((20, 21, 22), 2, 1),
    },
    "newreno": {lost: (lost, 1, 0) for lost in
                [(14,), (14, 28), (14, 26, 28), (14, 24, 26, 28), (20, 21, 22)]},
    "sack": {lost: (lost, 1, 0) for lost in
             [(14,), (14, 28), (14, 26, 28), (14, 24, 26, 28), (20, 21, 22)]},
}  # fmt: skip
# Moments of the resendings, in round trips after the first, rounded down: one hole a
# round trip for NewReno; SACK by PIPE, and by RFC 6675, where a burst goes at once.
NEWRENO_ROUNDS = {1: [0], 2: [0, 1], 3: [0, 1, 2], 4: [0, 1, 2, 3]}


def bulk(
    name: str,
    flavor: flavors.Flavor,
    *,
    segments: int = 100,
    ssthresh: int = 60,
    initcwnd: int = 1,
    drops: dict[int, list[int]] | None = None,
) -> Connection:
    return Connection(
        id=name,
        flavor=flavor.for_hosts(),
        payload_bytes=SEGMENT,
        writes=[(0, segments * SEGMENT)],
        initcwnd=initcwnd,
        ssthresh=ssthresh,
        drops=drops or {},
    )


@pytest.fixture(scope="module")
def named(run_connections: Runner) -> dict[tuple[str, tuple[int, ...]], Outcome]:
    keys = [(flavor, lost) for flavor in CLASSIC for lost in NAMED[flavor]]
    connections = [
        bulk(f"{f} {lost}", flavors.load(f), drops={segment: [0] for segment in lost})
        for f, lost in keys
    ]
    return dict(zip(keys, run_connections(connections, LINK), strict=True))


@pytest.mark.parametrize("flavor", CLASSIC)
def test_fall_and_floyd(named, flavor: str):
    for lost, (again, recoveries, timeouts) in NAMED[flavor].items():
        outcome = named[flavor, lost]
        found = outcome.retransmitted
        if flavor == "sack":
            found = tuple(sorted(found))
        assert (found, outcome.recoveries, outcome.timeouts) == (again, recoveries, timeouts), lost


def test_the_lost_segments_are_those_that_were_chosen(named):
    for (_, lost), outcome in named.items():
        assert tuple(s.segment for s in outcome.sent if s.dropped) == lost


def test_newreno_repairs_one_hole_a_round_trip(named):
    for lost in NAMED["newreno"]:
        times = [s.time_s for s in named["newreno", lost].sent if s.sending]
        rounds = [int((t - times[0]) / ROUND_TRIP_S) for t in times]
        assert rounds == NEWRENO_ROUNDS[len(lost)], lost


def test_every_segment_is_acknowledged_at_once(named):
    """One ACK a segment that arrives, and the one that ended the handshake."""
    for key, outcome in named.items():
        arrived = sum(not s.dropped for s in outcome.sent)
        assert len(outcome.acks) == arrived + 1, key


def test_the_check_command_agrees_with_the_literature(run_connections: Runner):
    run_connections([bulk("a lab is there", flavors.load("sack"))], LINK)
    checks = flavors_check.check_flavors()
    assert [c.verdict.ok for c in checks] == [True] * 16
    text = flavors_check.render(checks)
    assert max(len(line) for line in text.splitlines()) <= flavors_check.WIDTH
    assert "14 again after a timeout" in text


@NEEDS_VM
def test_debians_own_kernel_repairs_the_same():
    ours, debians = (flavors_check.check_flavors(lab=lab) for lab in ("uml", "vm"))
    assert [c.verdict.ok for c in debians] == [True] * 16
    for one, other in zip(ours, debians, strict=True):
        sent = [[(s.segment, s.sending) for s in c.outcome.sent] for c in (one, other)]
        assert sent[0] == sent[1], (one.flavor.name, one.scenario.name)


def windows() -> list[tuple[int, tuple[int, ...]]]:
    """For every window of 6 to 30 and 1 to 5 losses, one random choice from the window."""
    rng = random.Random(1996)
    return [
        (window, (0, *sorted(rng.sample(range(1, window), losses - 1))))
        for window in range(6, 31)
        for losses in range(1, 6)
    ]


@pytest.fixture(scope="module")
def swept(run_connections: Runner) -> dict[tuple[str, int, tuple[int, ...]], Outcome]:
    keys = [(flavor, window, lost) for flavor in CLASSIC for window, lost in windows()]
    connections = [
        bulk(
            f"{f} {window} {lost}",
            flavors.load(f),
            initcwnd=window,
            ssthresh=window,
            drops={segment: [0] for segment in lost},
        )
        for f, window, lost in keys
    ]
    return dict(zip(keys, run_connections(connections, LINK), strict=True))


def test_vanilla_always_times_out(swept):
    timeouts = {k: o.timeouts for k, o in swept.items() if k[0] == "vanilla"}
    assert set(timeouts.values()) == {1}


def test_reno_repairs_two_losses_at_most(swept):
    for (flavor, window, lost), outcome in swept.items():
        if flavor != "reno":
            continue
        if len(lost) == 1 or (len(lost) == 2 and window >= 10):
            assert outcome.timeouts == 0, (window, lost)
        elif len(lost) >= 3 and window <= 22:
            assert outcome.timeouts == 1, (window, lost)


def test_newreno_takes_as_many_round_trips_as_losses(swept):
    for (flavor, window, lost), outcome in swept.items():
        if flavor != "newreno" or window < len(lost) + 3:
            continue
        times = [s.time_s for s in outcome.sent if s.sending]
        assert outcome.timeouts == 0, (window, lost)
        assert outcome.retransmitted == lost
        assert round((times[-1] - times[0]) / ROUND_TRIP_S) == len(lost) - 1


def test_sack_needs_no_timeout(swept):
    for (flavor, window, lost), outcome in swept.items():
        if flavor != "sack" or window < 12:
            continue
        assert outcome.timeouts == 0, (window, lost)
        assert tuple(sorted(outcome.retransmitted)) == lost


def test_sack_of_rfc_6675_repairs_in_two_round_trips(run_connections: Runner):
    """From the first resending to the last; windows in which three are left above a hole."""
    rule = flavors.load("sack").with_parameters({"sack_retransmit": "three_above"})
    cases = [(w, lost) for w, lost in windows() if w >= 12 and lost[-1] <= w - 4]
    assert len(cases) > 20
    connections = [
        bulk(f"{w} {lost}", rule, initcwnd=w, ssthresh=w, drops={s: [0] for s in lost})
        for w, lost in cases
    ]
    for (window, lost), outcome in zip(cases, run_connections(connections, LINK), strict=True):
        times = [s.time_s for s in outcome.sent if s.sending]
        assert outcome.timeouts == 0, (window, lost)
        assert times[-1] - times[0] <= 2 * 1.1 * ROUND_TRIP_S, (window, lost)


@pytest.mark.parametrize("flavor", ["reno", "newreno"])
@pytest.mark.parametrize(("window", "duplicate"), [(8, 5), (15, 9), (16, 9), (30, 16)])
def test_the_first_new_segment_leaves_on_the_right_duplicate_ack(
    run_connections: Runner, flavor: str, window: int, duplicate: int
):
    """RFC 2581: cwnd = W / 2 + duplicates exceeds W, the W segments outstanding."""
    assert duplicate == window - window // 2 + 1
    connection = bulk("w", flavors.load(flavor), initcwnd=window, ssthresh=window, drops={0: [0]})
    outcome = run_connections([connection], LINK)[0]
    new = next(s for s in outcome.sent if s.segment == window)
    arrivals = [a.time_s + LINK.delay_ns / 1e9 for a in outcome.acks[1:]]
    assert sum(t <= new.time_s for t in arrivals) == duplicate


def rounds(outcome: Outcome) -> list[int]:
    """Segments sent in each round trip of a transfer without losses."""
    counts: list[int] = []
    for sending in outcome.sent:
        number = int(sending.time_s / ROUND_TRIP_S)
        counts += [0] * (number + 1 - len(counts))
        counts[number] += 1
    return counts


@pytest.mark.parametrize("flavor", CLASSIC)
def test_slow_start_doubles_and_congestion_avoidance_adds_one(run_connections: Runner, flavor: str):
    """On the very first connection of the lab: the initial ssthresh is the route's, 16."""
    outcome = run_connections([bulk("a", flavors.load(flavor), ssthresh=16)], LINK)[0]
    assert rounds(outcome)[:8] == [1, 2, 4, 8, 16, 17, 18, 19]


@pytest.mark.parametrize("flavor", CLASSIC)
def test_after_a_timeout_the_window_is_one_and_ssthresh_half_the_flight(
    run_connections: Runner, flavor: str
):
    """All sixteen in flight are lost: ssthresh 8; windows of 1, 2, 4, 8, then one more each."""
    drops = {segment: [0] for segment in range(16)}
    connection = bulk("t", flavors.load(flavor), initcwnd=16, ssthresh=16, drops=drops)
    outcome = run_connections([connection], LINK)[0]
    assert (outcome.timeouts, outcome.recoveries) == (1, 0)
    assert _flights(outcome.sent[16:])[:7] == [1, 2, 4, 8, 9, 10, 11]


def _flights(sent: tuple[exact_loss.Sending, ...]) -> list[int]:
    """Segments sent in each burst: those within half a round trip of the first."""
    bursts: list[list[float]] = []
    for sending in sent:
        if not bursts or sending.time_s - bursts[-1][0] > ROUND_TRIP_S / 2:
            bursts.append([])
        bursts[-1].append(sending.time_s)
    return [len(burst) for burst in bursts]
