# SPDX-License-Identifier: GPL-2.0-only
"""A moving path: the rule in C against a function written apart from it, and the checks' own tests.

harness/records/moving.py, which judges trials, is the function. It has nothing of the C code.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from harness.judge.checks.path import off_bits
from harness.records import moving as moving_seen
from harness.records.moving import Function
from plan.dumbbell import Dumbbell
from plan.layout import Link
from plan.path import Path as Moving
from plan.path import Way
from tests.small import PROJECT
from topology import moving
from topology.moving import table

NETWORK = Dumbbell(
    pairs=2,
    access=Link(rate_bit_per_s=100_000_000, delay_ns=5_000),
    middle=Link(rate_bit_per_s=7_000_000, delay_ns=3_000_000),
    mss_bytes=1460,
)
EPOCH_NS, ORIGIN_NS = 5_000_000_000, 6_000_000_000
SEED = 77


class Server(ctypes.Structure):
    """struct moving_server"""

    _fields_ = [("work", ctypes.c_uint64), ("since_ns", ctypes.c_uint64)]


class Delay(ctypes.Structure):
    """struct moving_delay"""

    _fields_ = [(name, ctypes.c_uint64) for name in ("packets", "due_ns", "lost")]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    out = tmp_path_factory.mktemp("moving")
    argv = ["make", "-s", "-C", str(PROJECT / "topology/moving"), f"OUT={out}", "library"]
    subprocess.run(argv, check=True)
    found = ctypes.CDLL(str(out / "libmoving.so"))
    for name in ("work", "moment", "serve", "delay"):
        getattr(found, f"moving_rule_{name}").restype = ctypes.c_uint64
    return found


class Rule:
    """rule.h on the table of one direction."""

    def __init__(self, library: ctypes.CDLL, path: Moving, flags: int = 0) -> None:
        self.library = library
        packed = table.packed(path, "down", NETWORK, EPOCH_NS, ORIGIN_NS)
        self.head, self.rows = packed[: table.HEAD.size], packed[table.HEAD.size :]
        self.parms = moving.PARMS.pack(SEED, flags, path.overhead_bytes or 0, 0, 0, b"")
        self.server, self.way = Server(), Delay()

    def work(self, at_ns: int) -> int:
        """Millionths of a bit since the path's time 0."""
        tick = ctypes.c_uint64((at_ns - EPOCH_NS) * 1000)
        before = 7_000_000 * (ORIGIN_NS - EPOCH_NS) // 1000
        return int(self.library.moving_rule_work(self.head, self.rows, tick)) - before

    def serve(self, since_ns: int, ip_bytes: int) -> int:
        self.server.since_ns = since_ns
        rule = self.library.moving_rule_serve
        memory = ctypes.byref(self.server)
        return int(rule(self.head, self.rows, memory, self.parms, ctypes.c_uint32(ip_bytes + 14)))

    def delay(self, now_ns: int) -> int:
        rule = self.library.moving_rule_delay
        memory, now = ctypes.byref(self.way), ctypes.c_uint64(now_ns)
        return int(rule(self.head, self.rows, self.parms, memory, now))


def drawn(seed: int, **settings: object) -> Moving:
    """Any path, of rows with rates, outages, bits at once, delays and losses."""
    draw = random.Random(seed)
    count = draw.randint(1, 40)
    times = [0, *sorted(draw.sample(range(1, 3_000_000), count - 1))]
    way = Way(
        times_us=times,
        rates_bit_per_s=[
            draw.choice([0, draw.randint(1_000, 10**9)]) for _ in times[:-1]
        ] + [draw.randint(1_000_000, 10**8)],
        delays_us=[draw.randint(0, 100_000) for _ in times],
        losses=[draw.choice([0.0, 0.0, draw.random(), 1.0]) for _ in times],
        bits=[draw.choice([0, 0, 12_032, 24_064]) for _ in times],
        period_us=draw.choice([0, times[-1] + draw.randint(1, 100_000)]),
    )  # fmt: skip
    return Moving(down=way, up=way, **settings)


def function(path: Moving) -> Function:
    return Function(path.down, table.still(NETWORK), ORIGIN_NS)


def arrivals(seed: int) -> Iterator[int]:
    """Times around the path's rows, among them its own microseconds and before its time 0."""
    draw = random.Random(seed)
    now = ORIGIN_NS - 200_000_000
    for _ in range(400):
        now += draw.choice([1, 999, 1_000, draw.randint(0, 30_000_000)])
        yield now


@pytest.mark.parametrize("seed", range(60))
def test_what_the_link_carries_is_the_function(library: ctypes.CDLL, seed: int) -> None:
    path = drawn(seed)
    rule, times = Rule(library, path), list(arrivals(seed))
    times += [
        ORIGIN_NS + 1000 * time_us + more for time_us in path.down.times_us for more in (-1, 0)
    ]
    assert [rule.work(at) for at in times] == function(path).work(np.array(times)).tolist()


@pytest.mark.parametrize("overhead_bytes", [None, 4])
@pytest.mark.parametrize("seed", range(40))
def test_each_packet_leaves_when_its_bits_are_carried(
    library: ctypes.CDLL, seed: int, overhead_bytes: int | None
) -> None:
    path = drawn(seed, overhead_bytes=overhead_bytes)
    rule = Rule(library, path, 0 if overhead_bytes is None else moving.BYTES)
    draw, left, came, since = random.Random(seed), [], list(arrivals(seed)), 0
    sizes = [draw.choice([40, 1500]) for _ in came]
    for at_ns, ip_bytes in zip(came, sizes, strict=True):
        if not left or left[-1] <= at_ns:  # all before it have left
            since = at_ns
        left.append(rule.serve(since, ip_bytes))
    work = moving_seen.works_of(path, np.array(sizes))
    begun = np.cumsum(work) - work
    of = function(path)
    expected = of.moment_ns(np.maximum.accumulate(of.work(np.array(came)) - begun) + begun + work)
    assert left == expected.tolist()


@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_each_packet_has_the_delay_of_its_time(
    library: ctypes.CDLL, seed: int, reorder: bool
) -> None:
    path = drawn(seed, reorder=reorder)
    rule = Rule(library, path, moving.REORDER if reorder else 0)
    sent = list(arrivals(seed))
    left = [rule.delay(at) for at in sent]
    arrived = [(at, tag) for tag, at in enumerate(left) if at]
    assert len(sent) - len(arrived) == rule.way.lost
    if not reorder:
        assert arrived == sorted(arrived)
    found = measured_delays(path, sent, sorted(arrived, key=lambda one: one[0]))
    assert found == {
        "sent": 400, "arrived": len(arrived), "wrong": 0, "delay_off_ns": 0 if arrived else None,
    }  # fmt: skip


def measured_delays(path: Moving, sent: list[int], arrived: list[tuple[int, int]]) -> dict:
    kind = [("at_ns", "i8"), ("tag", "u8")]
    before = np.array([(at, tag) for tag, at in enumerate(sent)], kind)
    return moving_seen.delays(function(path), path, before, np.array(arrived, kind), SEED)


def test_a_packet_goes_on_at_the_new_rate_and_after_an_outage(library: ctypes.CDLL) -> None:
    """1500 bytes are 32 cells, 13,568 bits: half of them at 1 Mbit/s, an outage of 50 ms, the rest
    at 2 Mbit/s.
    """
    path = Moving(
        down=(
            way := Way(
                times_us=[0, 6784, 56784],
                rates_bit_per_s=[1_000_000, 0, 2_000_000],
                delays_us=[0],
            )
        ),
        up=way,
    )
    left_ns = Rule(library, path).serve(ORIGIN_NS, 1500)
    assert left_ns - ORIGIN_NS == (56784 + 3392) * 1000


def test_an_opportunity_carries_what_waits_and_nothing_later(library: ctypes.CDLL) -> None:
    """1504 bytes each 10 ms on a link of bytes: a packet of 1500 takes one, 752 half of one."""
    way = Way(
        times_us=[0, 5000],
        rates_bit_per_s=[0],
        delays_us=[0],
        bits=[0, 1504 * 8],
        period_us=10_000,
    )
    path = Moving(down=way, up=way, overhead_bytes=4)
    rule = Rule(library, path, moving.BYTES)
    at = [ORIGIN_NS + ms * 1_000_000 for ms in range(100)]
    assert rule.serve(at[1], 1500) == at[5]
    assert rule.serve(at[7], 748) == at[15]
    assert rule.serve(at[7], 748) == at[15]  # the other half
    assert rule.serve(at[15], 40) == at[25]  # it came at the moment of the opportunity
    assert rule.serve(at[26], 1500) == at[35]
    assert rule.serve(at[26], 1500) == at[45]


def test_no_packet_overtakes_when_the_delay_jumps_down(library: ctypes.CDLL) -> None:
    way = Way(times_us=[0, 1000], rates_bit_per_s=[10**6], delays_us=[20_000, 5_000])
    path = Moving(down=way, up=way)
    sent = [ORIGIN_NS + us * 1000 for us in (999, 1000, 15_998, 16_000)]
    rule = Rule(library, path)
    left = [rule.delay(at) - ORIGIN_NS for at in sent]
    assert left == [20_999_000, 20_999_000, 20_999_000, 21_000_000]
    rule = Rule(library, path, moving.REORDER)
    assert rule.delay(sent[0]) > rule.delay(sent[1])


# ---- the checks can fail ----

FLAT = Way(times_us=[0, 500_000], rates_bit_per_s=[10_000_000, 5_000_000], delays_us=[10_000])
MOVES = Moving(down=FLAT, up=FLAT)
FRAME_NS = 32 * 424 * 100  # at 10 Mbit/s
KIND = [("at_ns", "i8"), ("ip_bytes", "i8"), ("tag", "u8"), ("flow", "u8")]


def backlogged(share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Packets that all came at time 0, and left as the path says at that share of its rate."""
    count = 900
    works = np.arange(1, count + 1) * 32 * 424 * 1_000_000
    left = function(MOVES).moment_ns((works / share).astype("i8"))
    came = np.array([(ORIGIN_NS, 1500, tag, 1) for tag in range(count)], KIND)
    sent = np.array([(at, 1500, tag, 1) for tag, at in enumerate(left)], KIND)
    return came, sent


def served(share: float, *, cells: bool = False) -> dict:
    came, sent = backlogged(share)
    return moving_seen.served(function(MOVES), MOVES, NETWORK, came, sent, cells=cells)


def test_a_link_at_its_rate_passes() -> None:
    for cells in (False, True):
        found = served(1.0, cells=cells)
        assert found["full"] > 10 and max(found["over_bits"], found["under_bits"]) <= 32 * 424 + 424
        assert found["departure_off_ns"] == (None if cells else 0)


def test_a_link_that_is_faster_or_slower_is_seen() -> None:
    faster, slower = served(1.05), served(0.95)
    assert faster["over_bits"] > faster["slack_bits"]
    assert slower["under_bits"] > slower["slack_bits"]
    assert faster["departure_off_ns"] > 10_000_000 < slower["departure_off_ns"]


def test_with_many_pairs_a_link_of_cells_at_another_rate_is_seen() -> None:
    """A packet of each pair may be in transmission, in 100 ms more than the whole link carries."""
    many = replace(NETWORK, pairs=40)
    for share, key in ((0.8, "under_bits"), (1.25, "over_bits"), (1.0, "")):
        came, sent = backlogged(share)
        found = moving_seen.served(function(MOVES), MOVES, many, came, sent, cells=True)
        assert found["full"] >= 1
        worst = max(found["over_bits"], found["under_bits"])
        assert worst > found["slack_bits"] if key else worst <= found["slack_bits"]


@pytest.mark.parametrize(("pairs", "share"), [(2, 0.985), (2, 1.015), (10, 0.96), (10, 1.04)])
def test_a_small_error_of_the_rate_adds_up_while_packets_wait(pairs: int, share: float) -> None:
    """No interval of the cell queue shows it, because each may be off by a tenth."""
    network = replace(NETWORK, pairs=pairs)
    came, sent = backlogged(share)
    found = moving_seen.served(function(MOVES), MOVES, network, came, sent, cells=True)
    assert max(found["over_bits"], found["under_bits"] or 0) <= found["slack_bits"]
    assert found["sums"]["off_bits"] > found["slack_bits"]
    assert off_bits(found) == found["sums"]["off_bits"]


def test_cells_of_torn_packets_may_have_been_on_the_link() -> None:
    came, sent = backlogged()
    rest = np.delete(sent, range(100, 130))  # their cells, but for the last, were sent
    torn = 30 * 31 * 424
    off = [
        moving_seen.served(
            function(MOVES), MOVES, NETWORK, came, rest, cells=True, torn_bits=bits
        )["sums"]["off_bits"]
        for bits in (0, torn)
    ]
    slack = served(1.0, cells=True)["slack_bits"]
    assert off[0] > slack >= off[1] == 30 * 424


def test_an_idle_link_is_in_no_stretch() -> None:
    came, sent = backlogged()
    came["at_ns"] = sent["at_ns"] - FRAME_NS // 2
    sums = moving_seen.served(function(MOVES), MOVES, NETWORK, came, sent, cells=True)["sums"]
    assert sums["stretches"] == 900 and sums["longest_bits"] <= 32 * 424


def test_an_interval_counts_as_full_only_while_something_waits() -> None:
    came, sent = backlogged()
    came["at_ns"] = sent["at_ns"] - FRAME_NS // 2  # the queue is empty each time
    assert moving_seen.served(function(MOVES), MOVES, NETWORK, came, sent, cells=True)["full"] == 0


def test_a_packet_from_nowhere_is_refused() -> None:
    came, sent = backlogged()
    with pytest.raises(ValueError, match="never came to the queue"):
        moving_seen.served(function(MOVES), MOVES, NETWORK, came[1:], sent, cells=False)


@pytest.mark.parametrize("dropped", [0, 7])
def test_a_dropped_packet_is_not_taken_for_a_later_packet_with_its_tag(dropped: int) -> None:
    """The checksum of UDP has 16 bits, so two packets of a long trial may look the same."""
    came, sent = backlogged()
    came["tag"][dropped] = sent["tag"][dropped] = came["tag"][500]
    rest = np.delete(sent, dropped)
    assert list(moving_seen.matched(came, rest)) == [n for n in range(900) if n != dropped]
    assert list(moving_seen.matched(came, sent)) == list(range(900)), "both were sent"


def test_two_connections_need_not_keep_the_order_of_each_other() -> None:
    came = np.array([(0, 40, tag, flow) for tag, flow in [(1, 1), (1, 1), (2, 2), (2, 2)]], KIND)
    assert list(moving_seen.matched(came, came[[2, 0, 1, 3]])) == [2, 0, 1, 3]
    with pytest.raises(ValueError, match="never came to the queue"):
        moving_seen.matched(came, came[[0, 0, 0]])


def test_a_late_packet_a_lost_one_and_a_swapped_pair_are_seen() -> None:
    sent = [ORIGIN_NS + 1_000_000 * n for n in range(50)]
    right = [(at + 10_000_000, tag) for tag, at in enumerate(sent)]
    assert measured_delays(MOVES, sent, right)["delay_off_ns"] == 0
    late = [*right[:7], (right[7][0] + 2_000, 7), *right[8:]]
    assert measured_delays(MOVES, sent, late)["delay_off_ns"] == 2_000
    assert measured_delays(MOVES, sent, right[:-1])["wrong"] == 1
    swapped = [*right[:7], (right[7][0], 8), (right[8][0], 7), *right[9:]]
    assert measured_delays(MOVES, sent, swapped)["wrong"] == 2
