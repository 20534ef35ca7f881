# SPDX-License-Identifier: GPL-2.0-only
"""What a congestion mark does to the kernel's senders (RFC 3168, 6.1.2); the model has the rest."""

from __future__ import annotations

import pytest

from harness.exact_loss.host import Outcome
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from tests.flavors.runner import Runner

pytestmark = pytest.mark.lab

FAST = ("reno", "newreno", "sack")
SEGMENT = 1000


def marked(
    run: Runner, flavor: str, window: int, segments: int, mark: int, lost: int | None = None
) -> Outcome:
    """One connection, of which one segment is marked, and perhaps one lost."""
    asking = flavors.with_sysctls(flavors.load(flavor), {"tcp_ecn": 1}, flavor)
    connection = Connection(
        id=flavor,
        flavor=asking.for_hosts(),
        payload_bytes=SEGMENT,
        writes=[(0, segments * SEGMENT)],
        initcwnd=window,
        ssthresh=window,
        marks={mark: [0]},
        drops={} if lost is None else {lost: [0]},
    )
    return run([connection], Link())[0]


@pytest.mark.parametrize("flavor", FAST)
def test_a_segment_lost_right_after_a_window_that_was_marked(run_connections: Runner, flavor: str):
    """When the mark of 5 is known 24 has left: 25 is of the next window, which is halved, too."""
    outcome = marked(run_connections, flavor, window=20, segments=60, mark=5, lost=25)
    assert (outcome.timeouts, outcome.recoveries) == (0, 1)
    assert outcome.retransmitted == (25,)
    assert outcome.info["ssthresh"] == 5


@pytest.mark.parametrize("flavor", FAST)
def test_a_segment_lost_of_a_window_that_was_marked(run_connections: Runner, flavor: str):
    """One window is halved once."""
    outcome = marked(run_connections, flavor, window=20, segments=60, mark=5, lost=10)
    assert (outcome.timeouts, outcome.recoveries) == (0, 1)
    assert outcome.retransmitted == (10,)
    assert outcome.info["ssthresh"] == 10


@pytest.mark.parametrize("flavor", ["vanilla", *FAST])
def test_an_ack_that_tells_of_a_mark_does_not_grow_the_window(run_connections: Runner, flavor: str):
    """Eight become four; of the ACKs after it those of the last four, sent with and after CWR, tell
    of none, and make it five."""
    outcome = marked(run_connections, flavor, window=8, segments=12, mark=0)
    assert outcome.info["window_bytes"] == 5 * SEGMENT
    assert (outcome.timeouts, outcome.recoveries) == (0, 0)
