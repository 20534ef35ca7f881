# SPDX-License-Identifier: GPL-2.0-only
"""The rule of red_ns2 drops what ns-2's RED drops, given the same arrivals and random numbers."""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path

import pytest

from tests.topology.red_ns2 import library, reference
from tests.topology.red_ns2.reference import (
    AS_LINUX,
    CASES,
    NS_PER_BYTE,
    Case,
    Red,
    dropped,
    uniform,
)
from topology import red_ns2

HERE = Path(__file__).parent / "red_ns2"
# What `red_ns2/queue.tcl` printed under ns-2 2.35: the numbers of the dropped, of each case.
KEPT: dict[str, list[int]] = json.loads((HERE / "ns-2.35.json").read_text())
OFFERED = reference.arrivals()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library.build(tmp_path_factory.mktemp("red_ns2"))


def parameters(case: Case, *, ecn: bool = False) -> red_ns2.Parameters:
    flags = {
        red_ns2.FLAG_ECN: ecn,
        red_ns2.FLAG_BYTES: case.count_bytes,
        red_ns2.FLAG_GENTLE: case.gentle,
        red_ns2.FLAG_EAGER: not case.wait,
        red_ns2.FLAG_BLIND: case.blind,
        red_ns2.FLAG_SHORT: case.short,
        red_ns2.FLAG_PRESENT: case.present,
    }
    least, most = red_ns2.thresholds(case.packets_per_s)
    return red_ns2.Parameters(
        weight=red_ns2.weight(case.packets_per_s),
        first_p=round(0.1 * red_ns2.Q32),
        packet_ps=case.mean * NS_PER_BYTE * 1000,
        cell_ps=1,
        limit=case.limit * case.unit,
        min=round(least * case.unit * red_ns2.Q8),
        max=round(most * case.unit * red_ns2.Q8),
        packet_bytes=case.mean,
        cell_overhead=0,
        cell_payload=1,
        flags=sum(flag for flag, wanted in flags.items() if wanted),
    )


@pytest.mark.parametrize("name", CASES)
def test_the_reference_drops_what_ns_2_drops(name: str) -> None:
    assert len(KEPT[name]) > 100
    assert dropped(Red(CASES[name], uniform()), OFFERED) == KEPT[name]


@pytest.mark.parametrize("name", CASES)
def test_the_rule_drops_what_ns_2_drops(compiled: ctypes.CDLL, name: str) -> None:
    rule = library.Rule(compiled, parameters(CASES[name]), uniform())
    assert dropped(rule, OFFERED) == KEPT[name]


@pytest.mark.parametrize("name", AS_LINUX)
def test_a_rule_of_linux_in_place_of_ns_2_s(compiled: ctypes.CDLL, name: str) -> None:
    found = dropped(library.Rule(compiled, parameters(AS_LINUX[name]), uniform()), OFFERED)
    assert found == dropped(Red(AS_LINUX[name], uniform()), OFFERED)
    assert found not in KEPT.values()


@pytest.mark.parametrize(("p", "marks"), [(0.09, True), (0.11, False)])
def test_what_is_drawn_is_marked_up_to_a_tenth(
    compiled: ctypes.CDLL, p: float, marks: bool
) -> None:
    for ecn in (False, True):
        rule = library.Rule(compiled, parameters(CASES["packets"], ecn=ecn), uniform())
        rule.vars.p = round(p * red_ns2.Q32)
        assert rule.marks() == (marks and ecn)


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_is_what_ns_2_drops(tmp_path: Path, name: str) -> None:
    case, path = CASES[name], tmp_path / "arrivals"
    path.write_text("".join(f"{one.at_ns / 1e9:.9f} {one.size}\n" for one in OFFERED))
    words = (case.mean, case.limit, int(case.count_bytes), int(case.gentle), int(case.wait))
    argv = ["ns", str(HERE / "queue.tcl"), str(path), *map(str, words)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120)
    assert [int(word) for word in done.stdout.split()] == KEPT[name]
