# SPDX-License-Identifier: GPL-2.0-only
"""The leaf-spine network as data, and in the uml lab."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.design.cell import network
from plan import plan as plans
from plan.layout import Layout
from tests.small import run_trials, trials_of

TABLE: dict[str, Any] = {
    "kind": "leaf-spine", "pairs": 16, "leaves": 2, "spines": 2, "rate_bit_per_s": 10_000_000,
    "delay_us": 1_000, "mss_bytes": 1448,
}  # fmt: skip
TEXT = """
name = "leafspine"
title = "two spines"
[factors]
topology.spreading = ["turn", "hash"]
[base]
topology.kind = "leaf-spine"
topology.pairs = 8
topology.leaves = 2
topology.spines = 2
topology.rate_bit_per_s = 10_000_000
topology.delay_us = 1_000
topology.mss_bytes = 1448
queue = { kind = "drop-tail", limit_packets = 40 }
tcp = { flavor = "cubic", window_bytes = 262_144, ssthresh_bytes = 1_000_000 }
workload = { kind = "iperf", duration_s = 3 }
"""


def layout(**more: Any) -> Layout:
    return network({**TABLE, **more}).layout()


def test_in_turn_each_link_has_as_many_pairs() -> None:
    found = layout(spreading="turn")
    loads = {one.name: len(found.crossing(one)) for one in found.middles()}
    assert {*loads.values()} == {4} and {*loads} == {
        "a1-x1", "a1-x2", "a2-x1", "a2-x2", "x1-b1", "x1-b2", "x2-b1", "x2-b2"
    }  # fmt: skip
    assert {*map(len, found.classes().values())} == {2} and len(found.classes()) == 8


def test_every_route_goes_from_the_servers_leaf_over_one_spine_to_the_clients_leaf() -> None:
    found = layout(pairs=100, leaves=3, spines=4, hash_seed=7)
    for client, server in zip(found.clients(), found.servers(), strict=True):
        first, last = found.route(client.pair)
        assert (server.switch, first.far, last.far) == (first.near, last.near, client.switch)
        assert server.switch[0] == "a" and client.switch[0] == "b" and first.far[0] == "x"


def test_a_hash_spreads_many_pairs_evenly_and_another_seed_otherwise() -> None:
    """Each spine has a share of a quarter, to within four standard deviations of 1,000 draws."""
    spines = [shape_of(hash_seed=seed, pairs=1000, spines=4) for seed in (1, 2)]
    for of_pair in spines:
        assert all(
            abs(n - 250) < 4 * (1000 * 0.25 * 0.75) ** 0.5 for n in Counter(of_pair).values()
        )
    same = sum(one == other for one, other in zip(*spines, strict=True))
    assert 150 < same < 350


def shape_of(**more: Any) -> tuple[int, ...]:
    shape: Any = network({**TABLE, **more}).shape
    spines: tuple[int, ...] = shape.spine_of_pair
    return spines


def test_a_link_that_no_pair_crosses_has_nobody_who_probes_it() -> None:
    found = layout(pairs=1)
    assert [found.prober(one) for one in found.middles()].count(1) == 2
    assert [found.prober(one) for one in found.middles()].count(None) == 6


def test_a_plan_keeps_the_spine_of_each_pair() -> None:
    topology = network(TABLE)
    assert plans.part(plans.Topology, plans.to_json(topology)) == topology


@pytest.mark.lab
def test_equal_paths_are_fair_and_what_a_hash_puts_together_is_not(tmp_path: Path) -> None:
    """All checks of each link passed in both trials."""
    documents = run_trials(tmp_path / "out", trials_of(tmp_path, TEXT))
    fairness = {
        one["factors"]["topology.spreading"]: one["metrics"]["fairness"]
        for one in documents.values()
    }
    assert fairness["turn"] > 0.95 > fairness["hash"]
