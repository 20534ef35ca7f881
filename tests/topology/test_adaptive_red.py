# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED: its settings, its message, and in a lab that it adapts, which tc's does not."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from tests import scripts_in_lab
from topology import adaptive_red

QUEUE = adaptive_red.automatic(
    rate_bit_per_s=10_000_000,
    packet_bytes=1514,
    limit_bytes=300_000,
)


def test_automatic_settings_are_the_paper_s() -> None:
    """At 10 Mbit/s: min 5 packets, max 15, weight 0.0012, which is nearest to 2^-10."""
    assert (QUEUE.min_bytes, QUEUE.max_bytes, QUEUE.weight_log) == (7570, 22710, 10)
    fast = adaptive_red.automatic(
        rate_bit_per_s=100_000_000, packet_bytes=1000, limit_bytes=10_000_000
    )
    assert fast.min_bytes == 31_250  # 12,500 packets/s x 2.5 ms


def kernel_s_fall(idle_us: int) -> float:
    """red_calc_qavg_from_idle_time: what is left of the average."""
    log, table = adaptive_red.idle_table(QUEUE)
    idle_us = min(idle_us, 255 << log)
    shift = table[idle_us >> log]
    return 2.0**-shift if shift else max(1 - idle_us / 2**log, 0.5)


def test_the_average_falls_while_idle_as_packets_of_nothing_would_make_it() -> None:
    log, table = adaptive_red.idle_table(QUEUE)
    assert (len(table), max(table)) == (256, 31)

    def exact(idle_us: int) -> float:
        return float((1 - 2**-10) ** (idle_us * 10 / 8 / 1514))

    for idle_us in (1_000, 10_000, 100_000):
        # A cell is a power of two: its length is off by up to 2^0.5.
        assert 1 - kernel_s_fall(idle_us) == pytest.approx(1 - exact(idle_us), rel=0.25)
    # Half a cell from its middle, and half a shift by rounding.
    bound = exact(1 << log) ** -0.5 * 2**0.5
    for idle_us in range(1_000, 20_000_000, 7_000):
        assert 1 / bound <= kernel_s_fall(idle_us) / exact(idle_us) <= bound


def attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while data:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x7FFF] = data[4:length]
        data = data[-(-length // 4) * 4 :]
    return found


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({}, 4),
        ({"gentle": True}, 20),
        ({"ecn": True}, 5),
        ({"ecn": True, "drop_above_max": True}, 7),
    ],
)
def test_the_flags_are_where_the_kernel_looks(change: dict, flags: int) -> None:
    body = adaptive_red.request(replace(QUEUE, **change), 7, parent=0x10001).body
    assert struct.unpack_from("=i", body, 4)[0] == 7
    assert struct.unpack_from("=I", body, 12)[0] == 0x10001
    outer = attributes(body[20:])
    assert outer[1] == b"red\0"
    inner = attributes(outer[2])
    assert set(inner) == {1, 2, 3}  # no TCA_RED_FLAGS
    assert struct.unpack("=III4B", inner[1])[-1] == flags


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limit_bytes": 1000}, "max_bytes = 22710: allowed are 7571 to 1000"),
        ({"limit_bytes": 30, "min_bytes": 10, "max_bytes": 20}, "limit_bytes = 30: allowed are"),
        ({"weight_log": 20}, "weight_log = 20: allowed are 1 to 16"),
        ({"probability": 0.9}, "probability = 0.9: allowed are 0.01 to 0.5"),
    ],
)
def test_what_is_out_of_range_is_named(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(QUEUE, **change)


# ---- in a lab ----

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
        "not gentle": f"{DEVICE} {AT_AN_AVERAGE} 0 20",
        "none": OURS.format(ecn=False, drop=False).replace('"red0"', '"lo", parent=0x10001'),
    }
    return scripts_in_lab.run(scripts, tmp_path_factory.mktemp("red"))


def probabilities(said: scripts_in_lab.Said) -> list[float]:
    assert said.status == 0, said.err
    words = said.out.split()
    return [float(after) for word, after in zip(words, words[1:], strict=False)
            if word == "probability"]  # fmt: skip


def test_tc_s_adaptive_does_not_adapt(said: dict[str, scripts_in_lab.Said]) -> None:
    """The fault that this module is there for; where this fails the kernel or tc was mended."""
    assert probabilities(said["tc"]) == pytest.approx([0.3, 0.3], rel=1e-3)
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
