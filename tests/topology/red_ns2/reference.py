# SPDX-License-Identifier: GPL-2.0-only
"""Adaptive RED as in ns-2 once more, in ns-2's doubles, with a link and with ns-2's random numbers.

Written from what queue/red.cc of ns-2 2.35 does; `queue.tcl` asks ns-2 itself.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

NS_PER_BYTE = 1000  # 8 Mbit/s
BOTTOM, TOP, ALPHA, BETA = 0.01, 0.5, 0.01, 0.9


@dataclass(frozen=True)
class Arrival:
    at_ns: int
    size: int


@dataclass(frozen=True, kw_only=True)
class Case:
    """A queue, in ns-2's words as far as it has them."""

    mean: int = 1000
    limit: int = 60
    count_bytes: bool = False
    gentle: bool = True
    wait: bool = True
    # Linux's answers, which ns-2 does not have.
    blind: bool = False
    short: bool = False
    present: bool = False

    @property
    def packets_per_s(self) -> float:
        return 1e9 / NS_PER_BYTE / self.mean

    @property
    def weight(self) -> float:
        return 1 - math.exp(-1 / self.packets_per_s)

    @property
    def unit(self) -> int:
        return self.mean if self.count_bytes else 1

    @property
    def least(self) -> float:
        return max(5.0, 0.005 * self.packets_per_s / 2) * self.unit

    @property
    def most(self) -> float:
        return 3 * self.least


CASES = {
    "packets": Case(),
    "bytes": Case(count_bytes=True),
    "not gentle": Case(gentle=False),
    "small mean packet": Case(mean=250, limit=120),
    "small mean packet, bytes": Case(mean=250, limit=240, count_bytes=True),
    "short": Case(limit=20),
    "no wait": Case(wait=False),
    "no wait, bytes": Case(wait=False, count_bytes=True),
}
AS_LINUX = {
    "short": Case(short=True),
    "size": Case(count_bytes=True, blind=True),
    "slope": Case(present=True),
    "all": Case(count_bytes=True, wait=False, blind=True, short=True, present=True),
}


def arrivals() -> list[Arrival]:
    """Bursts, silences and loads from a half to twice the link's; never when the link gets free."""
    drawn = random.Random(1)
    found, at_ns = [], 1_000_000_000
    for _ in range(120):
        load = drawn.choice([0.5, 0.9, 0.95, 1.0, 1.05, 1.3, 2.0])
        for _ in range(drawn.randrange(20, 300)):
            size = drawn.choice([97, 97, 97, 600, 1557, 1557])
            at_ns += 1000 * int(drawn.expovariate(load) * 740) + 1000
            found.append(Arrival(at_ns + drawn.randrange(1, 1000), size))
        at_ns += drawn.choice([0] * 12 + [10**6, 3 * 10**7, 3 * 10**8, 2 * 10**9])
    return found


@dataclass
class Link:
    """Sends a packet after the other; the one that it sends no longer waits."""

    waiting: deque[int] = field(default_factory=deque)
    free_ns: int = 0

    def advance(self, now_ns: int) -> None:
        while self.waiting and self.free_ns <= now_ns:
            self.free_ns += self.waiting.popleft() * NS_PER_BYTE

    def idle_ns(self, now_ns: int) -> int:
        return max(now_ns - self.free_ns, 0)

    def take(self, now_ns: int, size: int) -> None:
        if self.idle_ns(now_ns):
            self.free_ns = now_ns + size * NS_PER_BYTE
        else:
            self.waiting.append(size)


# Of (now, idle time [ns], packets and bytes that wait, its size): is an arrival dropped?
Rule = Callable[[int, int, int, int, int], bool]


def dropped(rule: Rule, offered: list[Arrival]) -> list[int]:
    """The numbers of those that a queue with this rule before the link drops."""
    link, found = Link(), []
    for number, arrival in enumerate(offered):
        link.advance(arrival.at_ns)
        state = len(link.waiting), sum(link.waiting)
        if rule(arrival.at_ns, link.idle_ns(arrival.at_ns), *state, arrival.size):
            found.append(number)
        else:
            link.take(arrival.at_ns, arrival.size)
    return found


class Red:
    """The rule of one case."""

    def __init__(self, case: Case, uniform: Iterator[float]) -> None:
        self.case = case
        self.uniform = uniform
        self.average = 0.0
        self.max_p = 0.1
        self.adapted_s = 0.0
        self.count = self.count_bytes = 0
        self.above = False

    def __call__(self, now_ns: int, idle_ns: int, packets: int, octets: int, size: int) -> bool:
        case = self.case
        waiting = octets if case.count_bytes else packets
        missed = int(case.packets_per_s * idle_ns / 1e9)
        self.average *= (1 - case.weight) ** (missed + 1)
        self.average += case.weight * waiting
        self.adapt(now_ns / 1e9)
        self.count += 1
        self.count_bytes += size
        before, self.above = (
            self.above,
            self.average >= case.least and (waiting > 1 or case.short),
        )
        goes = False
        if self.above and not before:
            self.count, self.count_bytes = 1, size
        elif self.above:
            goes = next(self.uniform) <= self.chance(size)
        if goes or waiting >= case.limit * case.unit:
            self.count = self.count_bytes = 0
            return True
        return False

    def adapt(self, now_s: float) -> None:
        part = 0.4 * (self.case.most - self.case.least)
        if now_s <= self.adapted_s + 0.5:
            return
        if self.average < self.case.least + part and self.max_p > BOTTOM:
            self.max_p *= BETA
        elif self.average > self.case.most - part and self.max_p < TOP:
            self.max_p += min(ALPHA, self.max_p / 4)
        else:
            return
        self.adapted_s = now_s

    def chance(self, size: int) -> float:
        case = self.case
        p = self.probability()
        by_size = case.count_bytes and not case.blind
        passed = self.count_bytes // case.mean if by_size else self.count
        if case.wait and passed * p < 1:
            return 0.0
        sure = 2 if case.wait else 1
        if passed * p >= sure:
            return 1.0
        p /= sure - passed * p
        return min(p * size / case.mean, 1.0) if by_size and p < 1 else min(p, 1.0)

    def probability(self) -> float:
        least, most = self.case.least, self.case.most
        if self.average < most:
            return (self.average - least) / (most - least) * self.max_p
        if not self.case.gentle:
            return 1.0
        first = self.max_p if self.case.present else 0.1
        return min(first + (1 - first) * (self.average - most) / most, 1.0)


def uniform() -> Iterator[float]:
    """MRG32k3a (L'Ecuyer 1999) from the seed that ns-2 begins with."""
    m1, m2 = 4294967087, 4294944443
    one, two = [1] * 3, [1] * 3
    while True:
        p1 = (1403580 * one[1] - 810728 * one[0]) % m1
        p2 = (527612 * two[2] - 1370589 * two[0]) % m2
        one, two = [*one[1:], p1], [*two[1:], p2]
        yield ((p1 - p2) if p1 > p2 else (p1 - p2 + m1)) / (m1 + 1)
