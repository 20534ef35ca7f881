# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED in a lab: it adapts, knows that it is idle, and drops as it says."""

from __future__ import annotations

import pytest

from tests import scripts_in_lab

pytestmark = pytest.mark.lab

DEVICE = (
    "ip link add red0 type veth peer name red1 && ip link set red0 up && ip link set red1 up && "
)
SHOW = "tc -d qdisc show dev red0"
TC = (
    "tc qdisc add dev red0 root red limit 300000 min 7570 max 22710 avpkt 1514 burst 80"
    " bandwidth 10mbit probability 0.3 adaptive"
)
OURS = """python3 -c '
from topology import adaptive_red as red
red.put(red.AdaptiveRed(rate_bit_per_s=10_000_000, packet_bytes=1514, limit_bytes=300_000,
    min_bytes=7570, max_bytes=22710, weight_log=10, probability=0.3, ecn={ecn},
    drop_above_max={drop}), "red0")'"""
TBF = "tc qdisc add dev red0 root handle 1: tbf rate 10mbit burst 1600 limit 3000"
AFTER_A_BURST = "python3 -B /cellbed/tests/topology/lab_red_idle.py"
AT_AN_AVERAGE = "python3 -B /cellbed/tests/topology/lab_red.py"
WATCH = f"{SHOW} && sleep 6.2 && {SHOW}"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, scripts_in_lab.Said]:
    """What tc shows of each queue at once and twelve half seconds later, on an idle device."""
    scripts = {
        "tc": f"{DEVICE} {TC} && {WATCH}",
        "ours": f"{DEVICE} {OURS.format(ecn=False, drop=False)} && {WATCH}",
        "ecn": f"{DEVICE} {OURS.format(ecn=True, drop=True)} && {WATCH}",
        "after": f"{DEVICE} {TC} && {OURS.format(ecn=False, drop=False)} && {WATCH}",
        "child": f"{DEVICE} {TBF} && {OURS.format(ecn=True, drop=False)} && {WATCH}".replace(
            '"red0")', '"red0", parent=0x10001)'
        ),
        **{f"gentle {at}": f"{DEVICE} {AT_AN_AVERAGE} 1 {at}" for at in (20, 27, 30)},
        "after a burst": f"{DEVICE} {AFTER_A_BURST}",
        "not gentle": f"{DEVICE} {AT_AN_AVERAGE} 0 20",
        "none": OURS.format(ecn=False, drop=False).replace('"red0"', '"lo", parent=0x10001'),
    }
    return scripts_in_lab.run(scripts, tmp_path_factory.mktemp("red"))


def probabilities(said: scripts_in_lab.Said) -> list[float]:
    assert said.status == 0, said.err
    words = said.out.split()
    return [float(after) for word, after in zip(words, words[1:], strict=False)
            if word == "probability"]  # fmt: skip


def test_tc_s_adaptive_adapts(said: dict[str, scripts_in_lab.Said]) -> None:
    """By patch 0016: Linux starts to adapt by the flags' older place alone."""
    assert probabilities(said["tc"]) == pytest.approx([0.3, 0.3 * 0.9**12], rel=0.01)
    assert "adaptive" in said["tc"].out


@pytest.mark.parametrize("case", ["ours", "ecn", "after"])
def test_ours_does(said: dict[str, scripts_in_lab.Said], case: str) -> None:
    """Idle, so below the target: twelve times 0.9."""
    assert probabilities(said[case]) == pytest.approx([0.3, 0.3 * 0.9**12], rel=0.01)
    assert "adaptive" in said[case].out
    assert ("ecn" in said[case].out, "harddrop" in said[case].out) == (case == "ecn",) * 2


def test_it_goes_under_what_keeps_the_rate(said: dict[str, scripts_in_lab.Said]) -> None:
    assert probabilities(said["child"]) == pytest.approx([0.3, 0.3 * 0.9**12], rel=0.01)
    assert "parent 1:1 limit 300000b" in said["child"].out


def test_below_a_shaper_it_knows_that_it_is_idle(said: dict[str, scripts_in_lab.Said]) -> None:
    """Patch 0015: without it the probability rises in silence, and single packets are dropped."""
    assert said["after a burst"].status == 0, said["after a burst"].err
    risen, after, dropped = map(float, said["after a burst"].out.split())
    assert risen > 0.1
    assert after == pytest.approx(max(risen * 0.9**12, 0.01), rel=0.02)
    assert dropped == 0


def share_of_gentle(average: float) -> float:
    """Its frame n after a drop goes when n p reaches a draw between 0 and 1."""
    p = min(0.1 + (1 - 0.1) * (average - 15) / 15, 1)
    mean_gap = sum(max(1 - n * p, 0) for n in range(20))
    return 1 / mean_gap


@pytest.mark.parametrize("average", [20, 27, 30])
def test_gentle_it_drops_by_chance_above_max(
    said: dict[str, scripts_in_lab.Said], average: int
) -> None:
    assert said[f"gentle {average}"].status == 0, said[f"gentle {average}"].err
    flags, dropped = said[f"gentle {average}"].out.split()
    assert int(flags) == 20
    # Four times the standard error of 20,000 frames, and what is left of the warm-up.
    assert float(dropped) == pytest.approx(share_of_gentle(average), abs=0.015)


def test_without_it_drops_all_there(said: dict[str, scripts_in_lab.Said]) -> None:
    assert said["not gentle"].out.split() == ["4", "1.0"], said["not gentle"].err


def test_the_kernel_s_refusal_names_the_device(said: dict[str, scripts_in_lab.Said]) -> None:
    assert "Adaptive RED at 1: " in said["none"].err  # lo
