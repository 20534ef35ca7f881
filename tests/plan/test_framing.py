# SPDX-License-Identifier: GPL-2.0-only
"""The time of a packet on a link of cells and on a link of Ethernet frames, by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from harness.design.trials import PlannedTrial
from plan import plan
from plan.errors import UsageError
from plan.framing import ATM, ETHERNET, FRAMINGS
from plan.layout import Link
from tests.small import TINY, trials_of
from topology import commands
from topology.queues import adaptive_red, adaptive_red_ns2, drop_tail

ACCESS_BIT_PER_S = 149_760_000
DROP_TAIL = 'queue = { kind = "drop-tail", limit_packets = 50 }'
CELLS = 'queue = { policy = "plain", buffer_cells = 300 }'
SHAPES = {
    "dumbbell": "pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 5_000",
    "parking-lot": "links = 2, long_pairs = 1, cross_pairs = 1, rate_bit_per_s = 10_000_000,"
    " delay_us = 5_000",
    "leaf-spine": "pairs = 2, leaves = 1, spines = 2, rate_bit_per_s = 10_000_000,"
    " delay_us = 5_000",
}


@pytest.mark.parametrize(
    ("ip_bytes", "in_cells", "in_a_frame"),
    [(40, 2 * 53, 78), (52, 2 * 53, 90), (1500, 32 * 53, 1538), (9000, 188 * 53, 9038)],
)
def test_bytes_of_a_packet_on_the_link(ip_bytes: int, in_cells: int, in_a_frame: int) -> None:
    assert ATM.link_bytes(ip_bytes) == in_cells
    assert ETHERNET.link_bytes(ip_bytes) == in_a_frame


@pytest.mark.parametrize("name", FRAMINGS)
def test_a_packet_has_bytes(name: str) -> None:
    with pytest.raises(ValueError, match="ip_bytes is 0, but"):
        FRAMINGS[name].units(0)


def test_time_of_a_packet() -> None:
    plain = Link(rate_bit_per_s=10_000_000, delay_ns=0, framing=ETHERNET)
    assert plain.time_ns(1500) == 1_230_400
    assert Link(rate_bit_per_s=10_000_000, delay_ns=0).time_ns(1500) == 1_356_800
    assert ATM.unit_time_ns(45_000_000) == pytest.approx(9422.22, abs=0.01)


def test_netems_words_of_an_access_link() -> None:
    in_cells = Link(rate_bit_per_s=ACCESS_BIT_PER_S, delay_ns=5_000)
    plain = Link(rate_bit_per_s=ACCESS_BIT_PER_S, delay_ns=5_000, framing=ETHERNET)
    assert commands.access_rate(in_cells) == (53 * 10**9 // 2831, 2, 48, 5)
    # netem adds 24 to the Ethernet length: 14 + L becomes L + 38.
    assert commands.access_rate(plain) == (ACCESS_BIT_PER_S // 8, 24, 0, 0)


def one(tmp_path: Path, *, kind: str = "dumbbell", queue: str = DROP_TAIL) -> PlannedTrial:
    rest = 'mss_bytes = 1460, link_layer = "ethernet"'
    table = f'topology = {{ kind = "{kind}", {SHAPES[kind]}, {rest} }}'
    lines = [line for line in TINY.splitlines() if not line.startswith("topology = ")]
    text = "\n".join(lines).replace("[base]", f"[base]\n{table}").replace(CELLS, queue)
    return trials_of(tmp_path, text)[0]


@pytest.mark.parametrize("kind", SHAPES)
def test_all_links_of_a_network_have_its_framing(tmp_path: Path, kind: str) -> None:
    trial = one(tmp_path, kind=kind)
    layout = trial.plan.topology.layout()
    assert {layout.access.framing, *(found.link.framing for found in layout.middles())} == {
        ETHERNET
    }
    document = json.loads(json.dumps(plan.to_json(trial.plan)))
    assert document["topology"]["link_layer"] == "ethernet"
    assert plan.from_json(document) == trial.plan


def test_a_plan_of_cells_is_as_it_was_and_needs_another_network(tmp_path: Path) -> None:
    [old] = trials_of(tmp_path, TINY)
    assert "link_layer" not in plan.to_json(old.plan)["topology"]
    new = one(tmp_path)
    assert new.plan.topology.built != old.plan.topology.built


def test_a_queue_of_cells_needs_cells(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        one(tmp_path, queue=CELLS)
    assert str(refused.value).endswith(
        "topology.link_layer = ethernet: with queue.kind = cells it must be atm, because this"
        " queue counts cells"
    )
    assert str(tmp_path) in str(refused.value) and "\n" not in str(refused.value)


def test_a_queue_of_cells_has_a_highest_rate(tmp_path: Path) -> None:
    text = TINY.replace("rate_bit_per_s = 10_000_000", "rate_bit_per_s = {}")
    assert "{}" in text
    assert trials_of(tmp_path, text.replace("{}", "622_080_000"))
    with pytest.raises(UsageError, match="it must be at most 622080000; write a lower rate"):
        trials_of(tmp_path, text.replace("{}", "622_080_001"))


def test_the_idle_round_trip_counts_the_frames(tmp_path: Path) -> None:
    layout = one(tmp_path).plan.topology.layout()
    frame_bits = (84 + 38) * 8
    one_way = 2 * (frame_bits * 1e9 / ACCESS_BIT_PER_S + 5_000) + frame_bits * 100 + 5_000_000
    found = layout.idle_round_trip_ns(84, drop_tail.Queue.idle_wait_ns)
    assert found == pytest.approx(2 * one_way, rel=1e-12)


def test_reds_time_of_a_packet_is_that_of_its_frame(tmp_path: Path) -> None:
    network = one(tmp_path).plan.topology.dumbbell()
    linux = adaptive_red.Queue(limit_packets=100).on(network)
    assert linux.rate_bit_per_s == round(1514 * 8e9 / 1_230_400)
    ns2 = adaptive_red_ns2.Queue(limit_packets=100).on(network)
    assert (ns2.cell_ps, ns2.cell_payload, ns2.cell_overhead) == (800_000, 1, 24)
    assert ns2.packet_ps == 1538 * 800_000
    # The module's time of a packet (sch_red_ns2.c), which tc counts with its Ethernet header.
    assert math.ceil((1514 + ns2.cell_overhead) / ns2.cell_payload) * ns2.cell_ps == ns2.packet_ps
