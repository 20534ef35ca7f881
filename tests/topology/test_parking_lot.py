# SPDX-License-Identifier: GPL-2.0-only
"""The parking lot as data: routes, switches, delays, shares; and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from analysis.link_metrics import link_metrics, max_min_over_links
from analysis.metrics import capacity_bit_per_s, trial_metrics
from harness.design import experiment
from harness.design.cell import network
from harness.design.trials import planned
from plan import plan as plans
from plan.atm import frame_cells
from plan.dumbbell import Dumbbell
from plan.errors import UsageError
from plan.layout import Layout, Link
from topology import commands, datapath
from topology.queues.drop_tail import Queue

TABLE: dict[str, Any] = {
    "kind": "parking-lot",
    "links": 3,
    "long_pairs": 2,
    "cross_pairs": 3,
    "rate_bit_per_s": [10_000_000, 5_000_000, 20_000_000],
    "delay_us": [10_000, 20_000, 5_000],
    "mss_bytes": 1448,
}
TOPOLOGY = network(TABLE)
LOT = TOPOLOGY.layout()
TEXT = """
name = "lot"
title = "a parking lot"
[factors]
long = ["yes"]
[base]
topology.kind = "parking-lot"
topology.links = 2
topology.long_pairs = 1
topology.cross_pairs = 1
topology.rate_bit_per_s = 10_000_000
topology.delay_us = 5_000
topology.mss_bytes = 1448
queue = { kind = "drop-tail", limit_packets = 30 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 2 }
"""


def names(layout: Layout, pair: int) -> list[str]:
    return [one.name for one in layout.route(pair)]


def test_long_pairs_cross_all_links_and_each_cross_pair_crosses_one() -> None:
    assert TOPOLOGY.pairs == LOT.pairs == 11
    assert [names(LOT, pair) for pair in (1, 2)] == [["link1", "link2", "link3"]] * 2
    assert [names(LOT, pair)[0] for pair in range(3, 12)] == [
        f"link{number}" for number in (1, 1, 1, 2, 2, 2, 3, 3, 3)
    ]
    assert {name: [*pairs] for name, pairs in LOT.classes().items()} == {
        "long": [1, 2], "link1": [3, 4, 5], "link2": [6, 7, 8], "link3": [9, 10, 11],
    }  # fmt: skip
    assert LOT.crossing(LOT.middles()[1]) == [1, 2, 6, 7, 8]
    assert [LOT.prober(one) for one in LOT.middles()] == [3, 6, 9]


def test_every_device_has_a_name_of_its_own_that_linux_takes() -> None:
    many = network({**TABLE, "links": 16, "cross_pairs": 63, "rate_bit_per_s": 10_000_000,
                    "delay_us": 1}).layout()  # fmt: skip
    ports = [host.switch_port for host in many.hosts()]
    ports += [port for one in many.middles() for port in one.devices.values()]
    assert len({*ports}) == len(ports) == 2 * many.pairs + 32
    assert all(len(port) < 16 for port in ports)
    for switch in many.switches():
        assert len(commands.switch_ports(many, switch)) == ports_of(many, switch)


def ports_of(layout: Layout, switch: str) -> int:
    hosts = sum(host.switch == switch for host in layout.hosts())
    return hosts + sum(switch in (one.near, one.far) for one in layout.middles())


def test_each_packet_finds_its_way_over_the_links_of_its_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The flows of the switches are followed from host to host, both ways."""

    def seen(in_port: int, out_port: int, *, to_mac: str = "", mark: int = 0) -> Any:
        return in_port, to_mac, out_port, mark

    monkeypatch.setattr(datapath, "flow", seen)
    flows: dict[str, Any] = {name: commands.switch_flows(LOT, name) for name in LOT.switches()}
    for sender in LOT.hosts():
        crossed = follow(sender.switch_port, sender.peer_mac, flows)
        route = names(LOT, sender.pair)
        assert crossed[:-1] == (route[::-1] if sender.is_client else route)
        assert crossed[-1] == f"{'s' if sender.is_client else 'c'}{sender.pair}"


def follow(port: str, to_mac: str, flows: dict[str, Any]) -> list[str]:
    """The links that a packet crosses from a host's port on, and the host that gets it."""
    far_end = {one.devices[a]: (one.name, one.devices[b]) for one in LOT.middles()
               for a, b in (("down", "up"), ("up", "down"))}  # fmt: skip
    crossed: list[str] = []
    while len(crossed) <= len(LOT.middles()):
        switch = next(name for name in flows if port in commands.switch_ports(LOT, name).values())
        numbers = commands.switch_ports(LOT, switch)
        at = next(number for number, device in numbers.items() if device == port)
        [out] = {out for into, mac, out, _ in flows[switch] if into == at and mac in ("", to_mac)}
        if numbers[out] not in far_end:
            return [*crossed, numbers[out].partition("-")[2]]
        name, port = far_end[numbers[out]]
        crossed.append(name)
    raise AssertionError(f"a packet from {port} goes round in circles: {crossed}")


def test_the_idle_round_trip_of_each_route_has_its_parts() -> None:
    cells, access = frame_cells(84), LOT.access.unit_time_ns()
    for pair, delays, rates in ((1, 35_000_000, (10, 5, 20)), (7, 20_000_000, (5,))):
        at_links = sum(cells * 53 * 8 * 1e3 / rate for rate in rates)
        expected = 2 * (2 * cells * access + 2 * 5_000 + at_links + delays)
        found = LOT.idle_round_trip_ns(84, Queue.idle_wait_ns, pair)
        assert found == pytest.approx(expected, rel=1e-9)
    assert LOT.propagation_ns() == 2 * (35_000_000 + 2 * 5_000)
    assert (TOPOLOGY.rate_bit_per_s, TOPOLOGY.delay_ns) == (5_000_000, 35_000_000)


def test_a_lot_with_one_link_is_a_dumbbell() -> None:
    short = {**TABLE, "links": 1, "rate_bit_per_s": 10_000_000, "delay_us": 5_000}
    lot = network(short).layout()
    plain = Dumbbell(
        pairs=5, access=lot.access, mss_bytes=1448,
        middle=Link(rate_bit_per_s=10_000_000, delay_ns=5_000_000),
    )  # fmt: skip
    assert lot.idle_round_trip_ns(84) == plain.idle_round_trip_ns(84)
    assert [(host.ip, host.mac, host.ifindex) for host in lot.hosts()] == [
        (host.ip, host.mac, host.ifindex) for host in plain.hosts()
    ]


def test_a_plan_keeps_the_shape_and_a_dumbbell_has_none() -> None:
    data = plans.to_json(TOPOLOGY)
    assert data["shape"]["kind"] == "parking-lot"
    assert plans.part(plans.Topology, data) == TOPOLOGY
    dumbbell = {key: TABLE[key] for key in ("mss_bytes",)} | {
        "pairs": 11, "rate_bit_per_s": 5_000_000, "delay_us": 35_000
    }  # fmt: skip
    other = network(dumbbell)
    assert "shape" not in plans.to_json(other)
    assert other.built != TOPOLOGY.built and other.kind == "dumbbell"
    with pytest.raises(ValueError, match="parking-lot: it must be dumbbell"):
        TOPOLOGY.dumbbell()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cross_pairs = 1|cross_pairs = 600", "these are 1201 pairs; at most 1024"),
        ("delay_us = 5_000|delay_us = [1, 2, 3]", "the list has 3 numbers; write one number, or 2"),
        ("links = 2|links = 17", "topology.links = 17: allowed are 1 to 16"),
        ("topology.links = 2\n|", "topology.links: this key is missing"),
        ("10_000_000|10", "topology.rate_bit_per_s = 10: allowed are"),
        ("delay_us = 5_000|delay_us = [5, -1]", "topology.delay_us, value 2 = -1: allowed are"),
        ("links = 2|path = \"x.csv\"", "topology.path: this key is unknown; a topology has"),
        ("links = 2|loss.share = 0.1", "topology.loss: this key is unknown; a topology has"),
        ("links = 2|pairs = 2", "topology.pairs: this key is unknown; a topology has this key"),
        ("parking-lot|car-park", "topology.kind = car-park: "),
        (
            'kind = "drop-tail", limit_packets = 30|policy = "plain", buffer_cells = 300',
            "queue.kind = cells: with topology.kind = parking-lot it must be a queue of packets",
        ),
        (
            'kind = "iperf", duration_s = 2|kind = "packmime"',
            "workload.kind = packmime: it needs topology.kind = dumbbell",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_with_it_is_refused_in_one_line(
    tmp_path: Path, change: str, said: str
) -> None:
    old, new = change.split("|")
    path = tmp_path / "lot.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UsageError) as refused:
        planned(experiment.load(path), path)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_two_kernels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lot.toml"
    path.write_text(TEXT + 'lab.receiver_kernel = "6.12"\n')
    with pytest.raises(UsageError, match="topology.kind: it is parking-lot, but with lab.receiver"):
        planned(experiment.load(path), path)


def test_fair_shares_over_links_by_hand() -> None:
    """Bertsekas and Gallager 1992, section 6.5.2: all grow until a link is full."""
    routes = [["a", "b"], ["a"], ["b"]]
    greedy = (inf, inf, inf)
    assert max_min_over_links(greedy, routes, {"a": 10.0, "b": 10.0}) == (5, 5, 5)
    assert max_min_over_links(greedy, routes, {"a": 10.0, "b": 4.0}) == (2, 8, 2)
    assert max_min_over_links((1.0, inf, inf), routes, {"a": 10.0, "b": 4.0}) == (1, 9, 3)
    assert max_min_over_links((0.0, inf, 2.0), routes, {"a": 10.0, "b": 4.0}) == (0, 10, 2)


def test_metrics_of_one_link_are_those_of_the_dumbbell() -> None:
    short = {**TABLE, "links": 1, "rate_bit_per_s": 10_000_000, "delay_us": 5_000}
    received, scheduled = [9_000, 100, 4_000, 700, 50], [None, 100, None, 2_000, 50]
    links = link_metrics(
        network(short).layout(), received_bytes=received, scheduled_bytes=scheduled, duration_s=2.0
    )
    plain = trial_metrics(
        received_bytes=received, scheduled_bytes=scheduled, duration_s=2.0, mss_bytes=1448,
        rate_bit_per_s=10_000_000,
    )  # fmt: skip
    assert links.fair_share_bit_per_s == pytest.approx(plain.fair_share_bit_per_s)
    assert (links.efficiency, links.fairness) == pytest.approx((plain.efficiency, plain.fairness))


def test_a_link_carries_the_sum_of_its_pairs() -> None:
    one, other = (capacity_bit_per_s(1448, rate) for rate in (10_000_000, 5_000_000))
    received = [round(share / 8) for share in (one / 10, one / 5, other / 2, 0)]
    two = {**TABLE, "links": 2, "long_pairs": 1, "cross_pairs": 1,
           "rate_bit_per_s": [10_000_000, 5_000_000], "delay_us": 5_000}  # fmt: skip
    found = link_metrics(
        network(two).layout(), received_bytes=received[:3], scheduled_bytes=[None] * 3,
        duration_s=1.0,
    )  # fmt: skip
    assert found.of_link["link1"] == pytest.approx(0.3, rel=1e-4)
    assert found.of_link["link2"] == pytest.approx(0.2 + 0.5, rel=1e-4)
    assert found.of_share["long"] == pytest.approx((one / 10) / (other / 2), rel=1e-4)


def test_a_layout_with_other_values_is_another_network() -> None:
    assert replace(TOPOLOGY, mss_bytes=500).built == TOPOLOGY.built
    assert network({**TABLE, "delay_us": 1}).built == TOPOLOGY.built
    assert network({**TABLE, "long_pairs": 5, "cross_pairs": 2}).built != TOPOLOGY.built
