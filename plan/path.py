# SPDX-License-Identifier: GPL-2.0-only
"""A moving path: rate, one-way delay, loss and outage of the middle link as functions of time.

Time 0 is the start of the trial (t0 of its workload). Before time 0, the path is still. Its values
are topology.rate_bit_per_s and topology.delay_us, and the probes before the trial measure them.

A change affects packets as follows, exact to the microsecond of the table:

* Rate. A packet in transmission sends its remaining bits at the new rate.
* Outage (rate 0). The link sends nothing. Packets wait in the queue under test. The packet in
  transmission continues after the outage. Packets that have left the link are not affected.
* Bits at once (a delivery opportunity). The link can send this number of bits at this moment. If
  they are not enough for a whole packet, the packet keeps the sent bits and leaves with a later
  opportunity. Unused bits are lost. A packet that arrives at exactly this moment is too late.
* Delay. A packet has the delay of the moment at which it has left the link. No packet arrives
  before its predecessor: after a jump down, later packets arrive together with the last packet
  that had the longer delay. With `reorder`, later packets overtake it.
* Loss. The loss share is that of the moment at which a packet has left the link. The draw depends
  on the trial's seed and the packet's number in its direction.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from typing import Any, NamedTuple

from plan.framing import Framing

US_PER_S = 1_000_000
MODULE = "sch_moving"  # a moving path needs this kernel module
MOST_ROWS = (1 << 18) - 1  # PATH_MAX_ROWS of bpf/path.h less the row of the still path
MOST_US = 86_400 * US_PER_S
LEAST_RATE, MOST_RATE = 1_000, 1_000_000_000
MOST_DELAY_US = 10_000_000
# fq, below the cell queue, drops a packet whose departure is more than 1000 s away.
MOST_OUTAGE_US = 500 * US_PER_S
# In millionths of a bit: a sum of two works has 63 bits, as bpf/path.h needs.
MOST_WORK = 1 << 62
RATE_WORDS = f"allowed are 0, or {LEAST_RATE} to {MOST_RATE}"


class Row(NamedTuple):
    """The values of the path from `time_us` on. The link can send `bits` at once at this time."""

    time_us: int
    rate_bit_per_s: int
    delay_us: int
    loss: float
    bits: int


@dataclass(frozen=True, kw_only=True)
class Way:
    """One direction as columns. A column with one value has this value in all rows.

    Attributes:
        period_us: the path repeats after this time; 0: the last row holds to the end.

    Raises:
        ValueError: the columns do not form a path; the text says why.
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
        if work(self) >= MOST_WORK:
            raise ValueError(
                f"the path can carry {work(self) / US_PER_S:.3g} bits until its end; allowed are"
                f" less than {MOST_WORK / US_PER_S:.3g}; leave out rows behind the trial's end"
            )
        if longest_silence_us(self) > MOST_OUTAGE_US:
            raise ValueError(
                f"the path carries nothing for longer than {MOST_OUTAGE_US // US_PER_S} s; let an"
                " outage end, or repeat the path"
            )

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order of their times."""
        columns = (self.rates_bit_per_s, self.delays_us, self.losses, self.bits)
        values: list[Any] = [one if len(one) > 1 else repeat(one[0]) for one in columns]
        yield from map(Row, self.times_us, *values)


def work(way: Way) -> int:
    """Return what a path can carry until its last row, or in a period [millionths of a bit]."""
    rows = list(way.rows())
    carried = sum(a.rate_bit_per_s * (b.time_us - a.time_us) for a, b in pairwise(rows))
    rest_us = max(way.period_us - rows[-1].time_us, 0)
    return carried + rows[-1].rate_bit_per_s * rest_us + sum(x.bits for x in rows) * US_PER_S


def work_until(way: Way, end_us: int) -> int:
    """Return at least what a path can carry until a time [millionths of a bit]; a period counts
    as a whole.
    """
    if way.period_us:
        return -(-end_us // way.period_us) * work(way)
    rest_us = max(end_us - way.times_us[-1], 0)
    return work(way) + list(way.rows())[-1].rate_bit_per_s * rest_us


@dataclass(frozen=True, kw_only=True)
class Path:
    """Both directions of a path.

    Attributes:
        overhead_bytes: None: a link of cells. A number: a link of bytes, which adds this number of
            bytes to each IP packet.
        reorder: whether a packet may overtake its predecessor when the delay jumps down.
        drawn: makes the path of a seed, for a path that depends on the seed; else None.
    """

    down: Way
    up: Way
    overhead_bytes: int | None = None
    reorder: bool = False
    drawn: Callable[[int], Path] | None = field(
        default=None, repr=False, compare=False, metadata={"aside": True}
    )

    def of_seed(self, seed: int) -> Path:
        """Return the path of the trial with this seed."""
        return self.drawn(seed) if self.drawn else self

    def time_ns(self, ip_bytes: int, rate_bit_per_s: int) -> float | None:
        """Return a packet's transmission time on a link of bytes [ns]; None on a link of cells."""
        if self.overhead_bytes is None:
            return None
        return (ip_bytes + self.overhead_bytes) * 8e9 / rate_bit_per_s

    def over(self, framing: Framing) -> Path:
        """Return the path on links of a framing. A link of bytes keeps the path's own overhead."""
        if framing.has_cells or self.overhead_bytes is not None:
            return self
        drawn = self.drawn
        return replace(
            self,
            overhead_bytes=framing.overhead_bytes,
            drawn=drawn and (lambda seed: drawn(seed).over(framing)),
        )

    def way(self, direction: str) -> Way:
        """Return the direction "down" or "up"."""
        return self.down if direction == "down" else self.up


def of_rows(rows: Sequence[Row], period_us: int = 0) -> Way:
    """Return rows as columns."""
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
    """Check the range of each value. ValueError: the text names the value and the allowed range."""
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


def first_passing_us(way: Way) -> int:
    """Return the first time at which a way carries bits and does not lose all of them; MOST_US if
    there is none.
    """
    rows = (row for row in way.rows() if (row.bits or row.rate_bit_per_s) and row.loss < 1)
    return next((row.time_us for row in rows), MOST_US)


def longest_silence_us(way: Way) -> int:
    """Return the longest time in which a way carries nothing; MOST_US if this time has no end."""
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
