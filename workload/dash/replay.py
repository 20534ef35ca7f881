# SPDX-License-Identifier: GPL-2.0-only
"""Computes a player's buffer, stalls and levels again, from the moments of its segments.

player.py follows a buffer from event to event. This module instead computes the moment at which
each segment begins to play (a recursion, as for the waiting times of a queue), and derives the
rest from these moments. It shares no code with player.py. The levels come from the same rules
(rules.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from workload.dash.parameters import NS_PER_S, Parameters
from workload.dash.rules import RULES, State, rate_bit_per_s
from workload.dash.tables import Segment

Stall = tuple[int, int | None]


@dataclass(frozen=True, kw_only=True)
class Playback:
    """When the segments of a player play.

    Attributes:
        begins_ns: the moment at which each segment begins to play; the last segments may have none.
        stalls: begin and end of each stall; the end is None if the stall lasts until the end.
    """

    begins_ns: Sequence[int]
    stalls: Sequence[Stall]


def playback(params: Parameters, arrivals_ns: Sequence[int], end_ns: int) -> Playback:
    """Return when segments play that are whole at the given moments, until the end of a trial."""
    begins: list[int] = []
    stalls: list[Stall] = []
    while len(begins) + params.to_play <= len(arrivals_ns):
        at_ns = arrivals_ns[len(begins) + params.to_play - 1]
        if begins:
            stalls.append((begins[-1] + params.segment_ns, at_ns))
        while len(begins) < len(arrivals_ns) and arrivals_ns[len(begins)] <= at_ns:
            begins.append(at_ns)
            at_ns += params.segment_ns
    if begins and begins[-1] + params.segment_ns < end_ns:
        stalls.append((begins[-1] + params.segment_ns, None))
    return Playback(begins_ns=begins, stalls=stalls)


def played_ns(params: Parameters, found: Playback, moment_ns: int) -> int:
    """Return how much has been played until a moment."""
    begun = bisect_right(found.begins_ns, moment_ns)
    if not begun:
        return 0
    of_last_ns = min(params.segment_ns, moment_ns - found.begins_ns[begun - 1])
    return (begun - 1) * params.segment_ns + of_last_ns


def unlike_buffers(
    params: Parameters,
    rows: Sequence[Segment],
    stalls: Sequence[Stall],
    *,
    start_ns: int,
    broken: bool,
) -> int:
    """Return the number of rows and stalls of a player that differ, and of missing requests.

    Args:
        broken: whether the player lost its connection and so could not ask any more.
    """
    arrivals = [row.last_byte_ns for row in rows if row.last_byte_ns is not None]
    found = playback(params, arrivals, params.duration_ns)
    dues = [start_ns, *(_due_ns(params, found, n, one) for n, one in enumerate(arrivals, 1))]
    wrong = sum(
        (row.segment, row.due_ns, row.buffer_ns)
        != (number, due_ns, _buffer_ns(params, found, number, row.requested_ns))
        for number, (row, due_ns) in enumerate(zip(rows, dues, strict=False))
    )
    wrong += sum(one not in found.stalls for one in stalls)
    wrong += sum(one not in stalls for one in found.stalls)
    expected = sum(due_ns < params.duration_ns for due_ns in dues)
    return wrong + (0 if broken else abs(expected - len(rows)))


def _buffer_ns(params: Parameters, found: Playback, whole: int, moment_ns: int) -> int:
    """Return what is in the buffer when so many segments are whole."""
    return whole * params.segment_ns - played_ns(params, found, moment_ns)


def _due_ns(params: Parameters, found: Playback, whole: int, moment_ns: int) -> int:
    """Return when the buffer has room again after a segment became whole at a moment."""
    over_ns = _buffer_ns(params, found, whole, moment_ns) + params.segment_ns - params.buffer_ns
    return moment_ns + max(0, over_ns)


def unlike_levels(params: Parameters, rows: Sequence[Segment]) -> int:
    """Return the number of rows with another level than the rule chooses by the rows before."""
    rates: list[float] = []
    wrong, before = 0, None
    for row in rows:
        state = State(
            buffer_ns=row.buffer_ns, level=before, rates_bit_per_s=rates[-params.samples :]
        )
        wrong += RULES[params.adaptation](params, state) != row.level
        before = row.level
        if row.last_byte_ns is not None:
            rates.append(rate_bit_per_s(row.bytes, row.requested_ns, row.last_byte_ns))
    return wrong


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """What a viewer saw.

    Attributes:
        stalls, stall_s: the number of stalls, and their length together.
        video_mbit_per_s: the mean bit rate of the whole segments; None: there is none.
        switches: how often a whole segment had another level than the segment before it.
        start_up_s: from the start of the player until it first played; None: it did not play.
    """

    stalls: int
    stall_s: float
    video_mbit_per_s: float | None
    switches: int
    start_up_s: float | None


def viewed(params: Parameters, rows: Sequence[Segment], start_ns: int) -> Viewed:
    """Return what the viewer of a player saw, by its segments."""
    whole = [row for row in rows if row.last_byte_ns is not None]
    found = playback(params, [row.last_byte_ns or 0 for row in whole], params.duration_ns)
    lengths = [(params.duration_ns if end is None else end) - begin for begin, end in found.stalls]
    rates = [params.ladder_bit_per_s[row.level] for row in whole]
    begins = found.begins_ns
    return Viewed(
        stalls=len(lengths),
        stall_s=sum(lengths) / NS_PER_S,
        video_mbit_per_s=fmean(rates) / 1e6 if rates else None,
        switches=sum(one.level != other.level for one, other in pairwise(whole)),
        start_up_s=(begins[0] - start_ns) / NS_PER_S if begins else None,
    )


def figures(players: Sequence[Viewed]) -> dict[str, float | None]:
    """Return the figures of a trial: all stalls, and means over the players."""
    rates = [one.video_mbit_per_s for one in players if one.video_mbit_per_s is not None]
    starts = [one.start_up_s for one in players if one.start_up_s is not None]
    return {
        "stalls": sum(one.stalls for one in players),
        "stall_s": fmean(one.stall_s for one in players),
        "video_mbit_per_s": fmean(rates) if len(rates) == len(players) else None,
        "switches": fmean(one.switches for one in players),
        "start_up_s": fmean(starts) if len(starts) == len(players) else None,
    }
