# SPDX-License-Identifier: GPL-2.0-only
"""A path from mahimahi's packet-delivery traces, one trace for each direction.

Each line of a trace is a delivery opportunity: a whole number of milliseconds since the start. A
time on several lines is as many opportunities. An opportunity carries 1,504 bytes: a packet of
1,500 bytes and the 4 bytes that mahimahi adds, or parts of smaller and larger packets. An
opportunity without a waiting packet is lost. The trace repeats; its last time is time 0 of the next
round.

Source: Netravali, Sivaraman, Das, Goyal, Winstein, Mickens, Balakrishnan: "Mahimahi: Accurate
Record-and-Replay for HTTP", USENIX ATC 2015, section 4 (LinkShell); Winstein, Sivaraman,
Balakrishnan: "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks",
NSDI 2013, section 4.2 (Cellsim).

The keys give the delays and losses, as mm-delay and mm-loss do. The queue must be a queue of
packets, because the link counts bytes of IP packets and not cells.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from plan.errors import UsageError
from plan.path import MOST_ROWS, MOST_US, Path, Row, Way, of_rows
from plan.paths.site import DIGITS, Delay, FileName, Loss, Site, shown

OPPORTUNITY_BITS = 1504 * 8
OVERHEAD_BYTES = 4  # mahimahi also counts the header of its tunnel device
US_PER_MS = 1000
MOST_MS = MOST_US // US_PER_MS


@dataclass(frozen=True, kw_only=True)
class Settings:
    down: Annotated[
        FileName,
        "The file with the trace of the link to the clients. cellbed looks for the file in the"
        " folder of the experiment file, and then in the folder of the file that it extends.",
    ]
    up: Annotated[
        FileName,
        "The file with the trace of the link to the servers. cellbed looks for it in the same"
        " folders.",
    ]
    delay_us: Delay = None
    loss: Loss = 0.0

    def path(self, site: Site) -> Path:
        """Return a path with the opportunities of both traces.

        Raises:
            UsageError: the text is one line with the file, its line, the value and what is allowed.
        """
        delay_us = site.still.delay_us if self.delay_us is None else self.delay_us
        down, up = (
            way(opportunities(name, site), delay_us, self.loss) for name in (self.down, self.up)
        )
        return Path(down=down, up=up, overhead_bytes=OVERHEAD_BYTES)


def way(found: Counter[int], delay_us: int, loss: float) -> Way:
    """Return one direction. The last time is time 0 of the next round. At time 0 of the first
    round, no packet waits yet.
    """
    last = max(found)
    found[0] += found.pop(last)
    rows = [
        Row(ms * US_PER_MS, 0, delay_us, loss, found[ms] * OPPORTUNITY_BITS) for ms in sorted(found)
    ]
    return of_rows(rows, last * US_PER_MS)


def opportunities(name: str, site: Site) -> Counter[int]:
    """Return the number of opportunities at each millisecond."""
    found: Counter[int] = Counter()
    last = 0
    for number, line in enumerate(site.lines(name), 1):
        text = line.strip()
        told = shown(text) if text else "the line is empty"
        where = f"topology.path: {name}, line {number}: {told}"
        if not DIGITS.fullmatch(text) or int(text) > MOST_MS:
            raise UsageError(
                f"{where}: must be a whole number of milliseconds; allowed are 0 to {MOST_MS}"
            )
        if int(text) < last:
            raise UsageError(f"{where}: must not be before the time of the line above, {last}")
        last = int(text)
        found[last] += 1
    if not last:
        raise UsageError(f"topology.path: {name}: the file must end with a time after 0 ms")
    if len(found) >= MOST_ROWS:
        raise UsageError(
            f"topology.path: {name}: the trace has {len(found)} different times; allowed are fewer"
            f" than {MOST_ROWS}"
        )
    return found
