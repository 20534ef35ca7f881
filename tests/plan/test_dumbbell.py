# SPDX-License-Identifier: GPL-2.0-only
"""The dumbbell as data, against closed forms and the paper's figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plan.dumbbell import Dumbbell
from plan.layout import Link, last_cell_wait_ns
from topology import commands, datapath

ACCESS = Link(rate_bit_per_s=149_760_000, delay_ns=5_000)
WAN = Dumbbell(
    pairs=100,
    access=ACCESS,
    middle=Link(rate_bit_per_s=45_000_000, delay_ns=5_000_000),
    mss_bytes=1024,
)


def test_every_host_is_unlike_every_other() -> None:
    hosts = replace(WAN, pairs=1024).hosts()
    for name in ("name", "ip", "mac", "switch_port", "switch_ifindex"):
        assert len({getattr(host, name) for host in hosts}) == 2048, name
    assert all(len(host.switch_port) < 16 for host in hosts)


def test_peers_name_each_other() -> None:
    for client, server in zip(WAN.clients(), WAN.servers(), strict=True):
        assert (client.peer_ip, client.peer_mac) == (server.ip, server.mac)
        assert (server.peer_ip, server.peer_mac) == (client.ip, client.mac)


def test_last_cell_leaves_when_the_slower_side_allows() -> None:
    # Queue by queue: cell j comes at (j + 1) a and leaves s later, or s after the one before.
    for arrival, service, cells in ((3.0, 10.0, 5), (10.0, 3.0, 5), (4.0, 4.0, 7)):
        leaves = 0.0
        for j in range(cells):
            leaves = max(leaves, (j + 1) * arrival) + service
        assert last_cell_wait_ns(cells, arrival, service) == pytest.approx(leaves - cells * arrival)


def test_idle_round_trip_has_its_parts() -> None:
    rtt = WAN.idle_round_trip_ns(84)
    assert rtt > 10_000_000 + 4 * 5_000
    assert rtt == pytest.approx(10_099_183, abs=1)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"pairs": 0}, "pairs"),
        ({"pairs": 1025}, "pairs"),
        ({"mss_bytes": 10}, "mss_bytes"),
        ({"middle": Link(rate_bit_per_s=1, delay_ns=0)}, "middle.rate_bit_per_s"),
        ({"middle": Link(rate_bit_per_s=45_000_000, delay_ns=-1)}, "middle.delay_ns"),
    ],
)
def test_what_is_out_of_range_is_named(change: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        replace(WAN, **change)


def test_access_link_counts_cells() -> None:
    # netem adds 2 to the Ethernet length: 14 + L becomes L + 16, LLC/SNAP and AAL5.
    line = commands.access_netem("eth0", ACCESS)
    # A cell takes 2831 ns, so the rate is 53 bytes in that.
    assert line.endswith(f"delay 5000ns rate {53 * 10**9 // 2831 * 8}bit 2 48 5")


def test_flows_mark_each_pair_with_its_vc() -> None:
    """One to the middle and one from it for each pair; the datapath drops all other packets."""
    flows = commands.switch_flows(WAN, "sw2")
    assert len(flows) == 2 * WAN.pairs == 200
    assert datapath.flow(7, 2000, mark=7) in flows
