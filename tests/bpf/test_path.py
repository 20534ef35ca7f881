# SPDX-License-Identifier: GPL-2.0-only
"""The cell queue on a path that moves, cell by cell against the reference with such a server."""

from __future__ import annotations

import heapq
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import pytest

from plan.dumbbell import Dumbbell
from plan.layout import Link
from plan.path import Path as Moving
from plan.path import Way
from tests.bpf import reference
from tests.bpf.reference import Offered, Port, Switch
from tests.bpf.test_differential import WAN, compare_counters
from tests.bpf.traces import Case, play
from topology.libcellq import PATH_CELL, POLICIES
from topology.moving import table

PS_PER_US = 1_000_000
NETWORK = Dumbbell(
    pairs=2,
    access=Link(rate_bit_per_s=149_760_000, delay_ns=5_000),
    middle=Link(rate_bit_per_s=45_000_000, delay_ns=0),
    mss_bytes=1460,
)


class Carried:
    """What a path can have carried until a time [ps], in fractions and without its own period."""

    def __init__(self, path: Moving, rounds: int) -> None:
        rows = [
            row._replace(time_us=row.time_us + n * path.down.period_us)
            for n in range(rounds if path.down.period_us else 1)
            for row in path.down.rows()
        ]
        self.times = [row.time_us * PS_PER_US for row in rows]
        self.rates = [Fraction(row.rate_bit_per_s, PS_PER_US) for row in rows]
        self.works = [Fraction(rows[0].bits * PS_PER_US)]
        for at, row in enumerate(rows[1:]):
            passed = self.rates[at] * (self.times[at + 1] - self.times[at])
            self.works.append(self.works[-1] + passed + row.bits * PS_PER_US)

    def work(self, time_ps: int) -> int:
        row = bisect_right(self.times, time_ps) - 1
        return floor(self.works[row] + self.rates[row] * (time_ps - self.times[row]))

    def moment(self, work: int) -> int:
        row = bisect_left(self.works, work) - 1
        if row < 0:
            return self.times[0]
        ends = [*self.times, float("inf")][row + 1]
        if self.rates[row]:
            return int(
                min(ceil(self.times[row] + (work - self.works[row]) / self.rates[row]), ends)
            )
        return int(ends)


class MovingSwitch(Switch):
    """The reference with a server that needs work, and not time."""

    def __init__(self, port: Port, frames: list[reference.Frame], carried: Carried) -> None:
        super().__init__(port, frames)
        self.carried = carried
        self.done = 0

    def _serve(self, time_ps: int) -> None:
        came_first = len(self.buffer) == 1 and self.idle
        begun = max(self.done, self.carried.work(time_ps)) if came_first else self.done
        self.done = begun + PATH_CELL
        departure = (self.carried.moment(self.done), reference.DEPARTURE, 0, 0, 0)
        heapq.heappush(self.events, departure)

    def _depart(self, time_ps: int) -> None:
        self.idle = False
        super()._depart(time_ps)
        self.idle = not self.buffer

    idle = True


def simulate(case: Case, path: Moving) -> reference.Result:
    switch = MovingSwitch(
        case.port(), reference.schedule(case.port(), case.trace), Carried(path, 200)
    )
    return switch.run()


def trace(draw: random.Random, frames: int) -> Sequence[Offered]:
    now, found = 0, []
    for _ in range(frames):
        now += draw.choice([0, 1_000, draw.randint(0, 300_000)])
        found.append(Offered(draw.randint(1, 4), draw.choice([1, 2, 32]), now))
    return found


def drawn(draw: random.Random) -> Moving:
    """A path of some milliseconds: slower and faster than an access link, silent, and at once."""
    count = draw.randint(1, 12)
    times = [0, *sorted(draw.sample(range(1, 5_000), count - 1))]
    rates = [draw.choice([0, 3_000_000, 45_000_000, 100_000_001, 600_000_000]) for _ in times]
    rates[-1] = 45_000_000
    bits = [draw.choice([0, 0, 12_032]) if draw.random() < 0.5 else 0 for _ in times]
    way = Way(
        times_us=times,
        rates_bit_per_s=rates,
        delays_us=[0],
        bits=bits,
        period_us=draw.choice([0, 6_000]),
    )
    return Moving(down=way, up=way)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(20))
def test_every_cell_is_that_of_the_reference(library: Path, policy: str, seed: int) -> None:
    draw = random.Random(seed)
    path = drawn(draw)
    changes = {"buffer_cells": draw.choice([20, 60, 300])}
    changes["threshold_cells"] = changes["buffer_cells"] * 4 // 5
    changes["service_ps"] = PATH_CELL
    case = Case(params={**WAN, **changes}, policy=policy, trace=tuple(trace(draw, 120)))
    want = simulate(case, path)
    packed = table.packed(path, "down", NETWORK, 0, 0)
    # The still path before time 0 is not there: the trace begins with the path.
    got = play(library.with_name("libcellq-path.so"), case, packed)
    for f in want.frames:
        assert got.frames[f.seq] == (f.fate, f.departure_ns or 0, f.offered.announce_ns), f.seq
        if f.found:
            at_ps, x, x_vc, active = f.found
            assert got.drops[f.seq] == (at_ps // 1000, x, x_vc, active, f.accepted)
    compare_counters(want, got.per_vc)
    assert got.stats["peak_cells"] == want.peak_cells
    assert got.stats["busy_ps"] == got.stats["cells_sent"] * PATH_CELL
