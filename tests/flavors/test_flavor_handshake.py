# SPDX-License-Identifier: GPL-2.0-only
"""The handshake: when a SYN is sent again and what it asks for, and what its round trip is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from tests.flavors.runner import Runner, run_script
from tests.small import PROJECT

pytestmark = pytest.mark.lab

CLASSIC = ("vanilla", "reno", "newreno", "sack")
WEB = PROJECT / "studies/web_2003/web.toml"
HALF_OF_108_MS_NS = 54_000_000
SEGMENT = 1460
# The kernel's timer for SYNs is late by up to an eighth.
LATE = 1.13


def test_a_syn_is_sent_again_after_1_2_4_and_8_s_and_asks_for_ecn_each_time(tmp_path: Path):
    """RFC 6298, 5.5, and RFC 3168, 6.1.1, without what Linux adds to either."""
    wanted = [
        flavors.with_sysctls(flavors.load(name), {"tcp_ecn": 1}, name).as_dict() for name in CLASSIC
    ]
    for syns in run_script("syn_in_lab.py", {"flavors": wanted, "for_s": 20}, tmp_path):
        times = [at for at, _ in syns]
        gaps = [after - before for before, after in zip(times, times[1:], strict=False)]
        assert len(gaps) == 4
        for gap, expected in zip(gaps, (1, 2, 4, 8), strict=True):
            assert expected <= gap < expected * LATE, gaps
        assert all(asks for _, asks in syns), syns


@pytest.mark.parametrize("sender", ["Reno", "SACK"])
def test_a_lost_first_flight_of_the_web_study_waits_as_the_handshake_says(
    run_connections: Runner, sender: str
):
    """108 ms are 2 ticks of 100 ms, and their deviation half of that: 2 + 4 * 1 ticks. Twice the
    second time; once the first segment has come through the backoff is over, and with no sample
    yet the RTO is 600 ms again: the second one, lost twice, waits for that."""
    [trial, *_] = planned(experiment.load(WEB), WEB, [f"sender={sender}", "load=80"])
    link = Link(delay_ns=HALF_OF_108_MS_NS, rate_bit_per_s=10**9, mtu_bytes=1500)
    flight = Connection(
        id=sender, flavor=trial.plan.tcp.flavor, writes=[(0, 2 * SEGMENT)],
        payload_bytes=SEGMENT, initcwnd=2, drops={0: [0, 1], 1: [0, 1]},
    )  # fmt: skip
    [outcome] = run_connections([flight], link)
    first, second = ([s.time_s for s in outcome.sent if s.segment == segment] for segment in (0, 1))
    waits = [first[1] - first[0], first[2] - first[1], second[2] - second[1]]
    assert waits == pytest.approx([0.6, 1.2, 0.6], abs=0.001)
