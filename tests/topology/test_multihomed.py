# SPDX-License-Identifier: GPL-2.0-only
"""Multihomed clients as data: pairs, ends, switches; and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.design import experiment
from harness.design.cell import network
from harness.design.trials import planned
from plan.errors import UsageError
from plan.layout import Host
from topology import commands, datapath, rtnetlink

TABLE: dict[str, Any] = {
    "kind": "multihomed",
    "pairs": 2,
    "single_pairs": [1, 2],
    "rate_bit_per_s": [20_000_000, 10_000_000],
    "delay_us": [10_000, 30_000],
    "mss_bytes": 1400,
}
TOPOLOGY = network(TABLE)
BOTH = TOPOLOGY.layout()
TEXT = """
name = "paths"
title = "two paths"
[factors]
topology.links_used = ["both"]
[base]
topology.kind = "multihomed"
topology.pairs = 1
topology.rate_bit_per_s = [20_000_000, 10_000_000]
topology.delay_us = 5_000
topology.mss_bytes = 1400
queue = { kind = "drop-tail", limit_packets = 30 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "mptcp", duration_s = 2 }
"""


def test_a_pair_is_an_address_of_a_client() -> None:
    assert TOPOLOGY.pairs == BOTH.pairs == 7
    assert {name: [*pairs] for name, pairs in BOTH.classes().items()} == {
        "mptcp-link1": [1, 2], "mptcp-link2": [3, 4], "link1": [5], "link2": [6, 7]
    }  # fmt: skip
    assert BOTH.bundles() == {"client": [(1, 3), (2, 4)], "link1": [(5,)], "link2": [(6,), (7,)]}
    assert BOTH.several_paths and TOPOLOGY.kernel_options == ("MPTCP",)
    for pair, link in ((1, "link1"), (3, "link2"), (5, "link1"), (7, "link2")):
        assert [one.name for one in BOTH.route(pair)] == [link]


def test_a_client_has_two_interfaces_and_its_server_one_address() -> None:
    first, second = BOTH.clients()[0], BOTH.clients()[2]
    assert (first.node, first.device, second.node, second.device) == ("c1", "eth0", "c1", "eth1")
    assert first.ip != second.ip and first.peer_ip == second.peer_ip
    assert BOTH.servers()[0].ip == BOTH.servers()[2].ip == first.peer_ip
    assert BOTH.servers()[2].peer_ip == second.ip
    assert len(BOTH.ends()) == 14 and len(BOTH.hosts()) == 12
    assert len(BOTH.nodes()) == 10
    indexes = [host.switch_ifindex for host in BOTH.hosts()]
    assert len({*indexes}) == len(indexes)


def test_with_one_link_in_use_the_clients_have_one_address() -> None:
    topology = network({**TABLE, "links_used": "link2"})
    layout = topology.layout()
    assert not layout.several_paths and topology.kernel_options == ()
    assert layout.pairs == 5 and len(layout.hosts()) == len(layout.ends()) == 10
    assert [one.name for one in layout.route(1)] == ["link2"]
    assert list(layout.classes()) == ["client-link2", "link1", "link2"]
    assert layout.bundles()["client"] == [(1,), (2,)]


def test_the_address_of_the_second_interface_has_a_routing_table_of_its_own() -> None:
    def words(host: Host) -> list[str]:
        return [one.words for one in commands.host_settings([host], BOTH.access)]

    first, second = BOTH.clients()[0], BOTH.clients()[2]
    rule = f"rule from {second.ip}"
    assert rule in words(second) and not any(one.startswith("rule") for one in words(first))
    tables = [
        rtnetlink.ROUTE.unpack_from(one.body)[4]
        for host in (first, second)
        for one in commands.host_settings([host], BOTH.access)
        if one.words.startswith("route")
    ]
    assert tables == [rtnetlink.MAIN_TABLE, commands.SECOND_TABLE]


def test_a_server_reaches_each_address_over_its_own_link() -> None:
    ports = {device: number for number, device in commands.switch_ports(BOTH, "r0").items()}
    flows = commands.switch_flows(BOTH, "r0")
    for end in (BOTH.servers()[0], BOTH.servers()[2]):
        out = ports[f"{BOTH.route(end.pair)[-1].name}-down"]
        to = datapath.flow(ports["r0-s1"], out, to_mac=end.peer_mac, mark=end.pair)
        assert to in flows
    assert len({*flows}) == len(flows)


def test_all_data_crosses_the_common_link_first() -> None:
    topology = network({**TABLE, "common_rate_bit_per_s": 8_000_000, "common_delay_us": 1000})
    layout = topology.layout()
    assert [one.name for one in layout.route(4)] == ["common", "link2"]
    assert (topology.rate_bit_per_s, topology.delay_ns) == (8_000_000, 31_000_000)
    assert layout.servers()[0].switch == "r0" and layout.clients()[2].switch == "w2"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rate_bit_per_s": [1_000_000] * 3}, "topology.rate_bit_per_s: the list has 3 numbers"),
        ({"common_delay_us": 5}, "topology.common_delay_us = 5: there is no common link"),
        ({"links_used": "link3"}, "topology.links_used"),
        ({"coalesce_us": 5}, "topology.coalesce_us"),
    ],
)
def test_what_is_no_such_network_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        network({**TABLE, **change})


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"mptcp"', '"iperf"',
         "workload.kind = iperf: with topology.links_used = both it must be mptcp"),
        ('kind = "drop-tail", limit_packets = 30', 'policy = "plain", buffer_cells = 300',
         "queue.kind = cells: with topology.links_used = both"),
        ('"cubic", window', '["cubic"], window', ""),
        ('"cubic", window', '["cubic", "sack"], window', "tcp.flavor: the list has 2 flavors"),
        ("[base]", "[base]\nrecord.cwnd_sample_ms = 10", "record.cwnd_sample_ms = 10"),
        ("duration_s = 2", "duration_s = 2, start_jitter_us = 3_000_000",
         "workload.start_jitter_us = 3000000: must be at most 2000000"),
    ],
)  # fmt: skip
def test_what_mptcp_cannot_do_is_refused(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "paths.toml"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new))
    if not sentence:
        assert len(planned(experiment.load(path), path)) == 1
        return
    with pytest.raises(UsageError, match=sentence):
        planned(experiment.load(path), path)
