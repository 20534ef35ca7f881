# SPDX-License-Identifier: GPL-2.0-only
"""A path from the output of `ping -D`: the delay is that of the measured round trips.

    [1700182800.410606] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=60.6 ms

The option -D prints the moment of the answer, in seconds since 1970. ping sent the packet one round
trip earlier. From this moment until that of the next packet, both directions together have the
delay of this round trip. A packet without an answer gives no row, so the delay before it stays.
The rate is that of the still path.

Lines that begin otherwise and that ping writes itself are left out: its first line, the statistics
at its end, and errors such as "no answer yet".

Sources: the manual page ping(8) of iputils, option -D; Zhao, Pan: "LENS: A LEO Satellite Network
Measurement Dataset", MMSys 2024 (logs of this format from Starlink terminals).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from plan.errors import UsageError
from plan.path import MOST_DELAY_US, MOST_ROWS, MOST_US, US_PER_S, Path, of_rows
from plan.paths.site import FileName, Loss, Site, shown
from plan.schema import Within

ANSWER = re.compile(
    r"\[(?P<at>\d{1,12}\.\d{6})\] \d+ bytes from .+: icmp_seq=\d+ (?:ttl=\d+ )?"
    r"time=(?P<ms>\d{1,7}(?:\.\d+)?) ms(?P<again> \(DUP!\))?",
    re.ASCII,
)
OTHER = re.compile(
    r"PING .*|--- .* ---|\d+ packets transmitted.*|rtt .*|pipe \d+|"
    r"(?:\[[\d.]+\] )?(?:From .*|no answer yet for icmp_seq=\d+)",
    re.ASCII,
)
MOST_ROUND_TRIP_US = 2 * MOST_DELAY_US


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: Annotated[
        FileName,
        "The file with the output of `ping -D`. cellbed looks for the file in the folder of the"
        " experiment file, and then in the folder of the file that it extends. In the file, a time"
        " must not be before the time above it, nor more than a day after.",
    ]
    from_s: Annotated[
        float,
        Within(0, 31_536_000),
        "This moment of the log is time 0 of the path, in seconds behind the first packet.",
    ] = 0.0
    duration_s: Annotated[
        float | None,
        Within(0.001, 86_400),
        "The path has this part of the log. Later, the last delay stays. Without this key, the"
        " path has the rest of the log.",
    ] = None
    up_share: Annotated[
        float,
        Within(0, 1),
        "The share of the direction to the servers in each round trip. The other direction has"
        " the rest.",
    ] = 0.5
    loss: Loss = 0.0

    def path(self, site: Site) -> Path:
        """Return the path of the log.

        Raises:
            UsageError: the text is one line with the file, its line, the value and what is allowed.
        """
        found = self._part(dict(sorted(round_trips(self.file, site))))
        still = site.still._replace(loss=self.loss)
        ups = {time_us: round(us * self.up_share) for time_us, us in found.items()}
        down, up = (
            of_rows([still._replace(time_us=time_us, delay_us=us) for time_us, us in one.items()])
            for one in ({time_us: us - ups[time_us] for time_us, us in found.items()}, ups)
        )
        return Path(down=down, up=up)

    def _part(self, found: dict[int, int]) -> dict[int, int]:
        """Return the round trips of the wanted part by the time of the path; the first is at 0."""
        if not found:
            raise UsageError(f"topology.path: {self.file}: the file has no answer of ping")
        from_us = min(found) + round(self.from_s * US_PER_S)
        most_us = MOST_US if self.duration_s is None else round(self.duration_s * US_PER_S)
        before = [us for time_us, us in found.items() if time_us <= from_us]
        part = {0: before[-1]} | {
            time_us - from_us: us
            for time_us, us in found.items()
            if 0 < time_us - from_us < most_us
        }
        left_us = max(found) - from_us
        if self.duration_s is None and left_us > MOST_US:
            raise UsageError(
                f"topology.path: {self.file}: this part of the log has {left_us / US_PER_S:.0f} s;"
                f" allowed are at most {MOST_US // US_PER_S}; topology.path.duration_s takes a part"
                " of it"
            )
        if len(part) > MOST_ROWS:
            raise UsageError(
                f"topology.path: {self.file}: this part of the log has {len(part)} answers; allowed"
                f" are at most {MOST_ROWS}; a smaller topology.path.duration_s takes a part of it"
            )
        if max(found) < from_us:
            raise UsageError(
                f"topology.path.from_s = {self.from_s:g}: the log of {self.file} ends at"
                f" {(max(found) - min(found)) / US_PER_S:g} s"
            )
        return part


def round_trips(name: str, site: Site) -> Iterator[tuple[int, int]]:
    """Yield the moment at which ping sent a packet [us since 1970], and its round trip [us].

    Raises:
        UsageError: a line is no line of ping, or its time is before that of the answer above it, or
            more than a day after it.
    """
    before: Decimal | None = None
    for number, line in enumerate(site.lines(name), 1):
        text = line.strip()
        answer = ANSWER.fullmatch(text)
        if not answer:
            if text and not OTHER.fullmatch(text):
                said = "must begin with a time in brackets; use ping -D"
                if text.startswith("["):
                    said = "must be an answer as [1700182800.410606] 64 bytes from 192.0.2.1:"
                    said += " icmp_seq=1 ttl=63 time=60.6 ms"
                raise UsageError(f"topology.path: {name}, line {number}: {shown(text)}: {said}")
            continue
        at = Decimal(answer["at"])
        check_step(f"topology.path: {name}, line {number}: [{answer['at']}]", before, at)
        before = at
        if answer["again"]:
            continue
        round_trip_us = round(Decimal(answer["ms"]) * 1000)
        if round_trip_us > MOST_ROUND_TRIP_US:
            raise UsageError(
                f"topology.path: {name}, line {number}: time={answer['ms']} ms: allowed are 0 to"
                f" {MOST_ROUND_TRIP_US // 1000}"
            )
        yield int(at * US_PER_S) - round_trip_us, round_trip_us


def check_step(where: str, before: Decimal | None, at: Decimal) -> None:
    """Refuse a time in a log that cannot follow the time of the answer above it [s since 1970]."""
    if before is None:
        return
    if at < before:
        raise UsageError(
            f"{where}: the time must not be before that of the answer above, [{before}]; cut the"
            " log at this line"
        )
    if at - before > MOST_US // US_PER_S:
        raise UsageError(
            f"{where}: the time is more than a day after that of the answer above, [{before}];"
            " cut the log at this line"
        )
