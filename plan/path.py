# SPDX-License-Identifier: GPL-2.0-only
"""A path that moves: rate, one-way delay, loss and outage of the middle link as functions of time.

Time 0 is the start of the trial (t0 of its workload). Before it the path is still, as
topology.rate_bit_per_s and topology.delay_us say, and so it is probed.

What happens to packets at a change, exact to the microsecond of the table:

* Rate. A packet in transmission goes on at the new rate with the bits that it has left.
* Outage (rate 0). The link sends nothing. Packets wait in the queue under test, and the packet in
  transmission goes on when the outage is over. Packets that have left the link go on their way.
* Bits at once (a delivery opportunity). So many bits of waiting packets leave at this moment. A
  packet that is larger leaves with a later opportunity and keeps what it has had. What no packet
  uses is lost. A packet that comes at this very moment is too late.
* Delay. A packet has the delay that holds when it has left the link. No packet arrives before
  its predecessor: after a jump down, later packets arrive together with the last packet that
  had the longer delay. With `reorder`, they overtake.
* Loss. A packet that has left the link is lost with the share that holds then. The draw is that
  of the trial's seed and of the packet's number in its direction.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

US_PER_S = 1_000_000
MODULE = "sch_moving"  # of the lab's kernel, that it needs
MOST_ROWS = (1 << 18) - 1  # and the still path's row: PATH_MAX_ROWS of bpf/path.h
MOST_US = 86_400 * US_PER_S
LEAST_RATE, MOST_RATE = 1_000, 1_000_000_000
MOST_DELAY_US = 10_000_000
# fq of the cell queue drops a packet that is to leave more than 1000 s later.
MOST_OUTAGE_US = 500 * US_PER_S
RATE_WORDS = f"allowed are 0 and {LEAST_RATE} to {MOST_RATE}"


class Row(NamedTuple):
    """What holds from a time on; `bits` come at once at this time."""

    time_us: int
    rate_bit_per_s: int
    delay_us: int
    loss: float
    bits: int


@dataclass(frozen=True, kw_only=True)
class Way:
    """One direction, a column each; of a column of one value, all rows have this value.

    Attributes:
        period_us: after it, the path begins anew; 0: the last row holds to the end.

    Raises:
        ValueError: the columns are no path; says why.
    """

    times_us: Sequence[int]
    rates_bit_per_s: Sequence[int]
    delays_us: Sequence[int]
    losses: Sequence[float] = (0.0,)
    bits: Sequence[int] = (0,)
    period_us: int = 0

    def __post_init__(self) -> None:
        count = len(self.times_us)
        for name in ("rates_bit_per_s", "delays_us", "losses", "bits"):
            if len(getattr(self, name)) not in (1, count):
                raise ValueError(f"{name}: a path of {count} rows must have as many, or 1")
        if not 1 <= count <= MOST_ROWS:
            raise ValueError(f"a path has {count} rows; allowed are 1 to {MOST_ROWS}")
        if self.times_us[0] != 0 or any(b <= a for a, b in pairwise(self.times_us)):
            raise ValueError("times_us: a path begins at 0, and each time is after the last")
        for row in self.rows():
            check_row(row)
        if self.period_us and not self.times_us[-1] < self.period_us <= MOST_US:
            raise ValueError(
                f"period_us = {self.period_us}: must be after the last row's time,"
                f" {self.times_us[-1]}, and at most {MOST_US}"
            )
        if longest_silence_us(self) > MOST_OUTAGE_US:
            raise ValueError(
                f"the path carries nothing for longer than {MOST_OUTAGE_US // US_PER_S} s; let an"
                " outage end, or repeat the path"
            )

    def rows(self) -> Iterator[Row]:
        """The rows in the order of their times."""
        columns = (self.rates_bit_per_s, self.delays_us, self.losses, self.bits)
        for number, time_us in enumerate(self.times_us):
            values: list[Any] = [one[number] if len(one) > 1 else one[0] for one in columns]
            yield Row(time_us, *values)


@dataclass(frozen=True, kw_only=True)
class Path:
    """Both directions.

    Attributes:
        overhead_bytes: None: a link of cells, as all links of the dumbbell. A number: a link of
            bytes, on which each IP packet has so many more.
        reorder: may a packet overtake its predecessor when the delay jumps down?
        drawn: makes the path of a trial's seed, where the seed matters.
    """

    down: Way
    up: Way
    overhead_bytes: int | None = None
    reorder: bool = False
    drawn: Callable[[int], Path] | None = field(
        default=None, repr=False, compare=False, metadata={"aside": True}
    )

    def of_seed(self, seed: int) -> Path:
        """The path of a trial."""
        return self.drawn(seed) if self.drawn else self

    def time_ns(self, ip_bytes: int, rate_bit_per_s: int) -> float | None:
        """How long a packet is sent on a link of bytes at a rate [ns]; None on one of cells."""
        if self.overhead_bytes is None:
            return None
        return (ip_bytes + self.overhead_bytes) * 8e9 / rate_bit_per_s

    def way(self, direction: str) -> Way:
        """That of "down" or "up"."""
        return self.down if direction == "down" else self.up


def of_rows(rows: Sequence[Row], period_us: int = 0) -> Way:
    """Rows as columns."""
    times, *columns = zip(*rows, strict=True)
    rates, delays, losses, bits = (one[:1] if len(set(one)) == 1 else one for one in columns)
    return Way(
        times_us=times,
        rates_bit_per_s=rates,
        delays_us=delays,
        losses=losses,
        bits=bits,
        period_us=period_us,
    )


def check_row(row: Row) -> None:
    """ValueError where a value is out of range; names it and what is allowed."""
    if row.rate_bit_per_s and not LEAST_RATE <= row.rate_bit_per_s <= MOST_RATE:
        raise ValueError(f"rate_bit_per_s = {row.rate_bit_per_s}: {RATE_WORDS}")
    for name, value, most in (
        ("time_us", row.time_us, MOST_US),
        ("delay_us", row.delay_us, MOST_DELAY_US),
        ("loss", row.loss, 1),
        ("bits", row.bits, MOST_RATE),
    ):
        if not 0 <= value <= most:
            raise ValueError(f"{name} = {value}: allowed are 0 to {most}")


def longest_silence_us(way: Way) -> int:
    """The longest time for which a way carries nothing; without an end, MOST_US."""
    longest, since, period_us = 0, 0, way.period_us
    for row, after in pairwise([*way.rows(), None]):
        assert row is not None
        if row.bits:
            longest, since = max(longest, row.time_us - since), row.time_us
        if row.rate_bit_per_s:
            longest = max(longest, row.time_us - since)
            since = after.time_us if after else period_us
            if not after and not period_us:
                return longest
    first = next((row.time_us for row in way.rows() if row.bits or row.rate_bit_per_s), None)
    if first is None or not period_us:
        return MOST_US
    return max(longest, period_us - since + first)
