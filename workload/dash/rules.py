# SPDX-License-Identifier: GPL-2.0-only
"""The rules that choose the level of a player's next segment. Pure: parameters and state alone.

throughput  dash.js 4 (its documentation, "ThroughputRule" and the settings of `abr`): the mean
            throughput of the last four segments, of which a level may need 90 %. The throughput of
            a segment counts from the request to its last byte (`useDeadTimeLatency = false`; the
            default of dash.js leaves out the time to the first byte).
bola        K. Spiteri, R. Urgaonkar, R. Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for
            Online Videos", INFOCOM 2016: the algorithm BOLA with logarithmic utilities, and the
            largest V that its buffer allows.
buffer      T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A Buffer-Based Approach to
            Rate Adaptation", SIGCOMM 2014: algorithm 1 (BBA-0) with a linear rate map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from workload.dash.parameters import Parameters


@dataclass(frozen=True, kw_only=True)
class State:
    """A player at the moment of a request.

    Attributes:
        buffer_ns: the video in its buffer.
        level: the level of the segment before; None: there was no segment before.
        rates_bit_per_s: the throughput of each whole segment, the newest last; a rule may get only
            the last `params.samples`.
    """

    buffer_ns: int
    level: int | None
    rates_bit_per_s: Sequence[float]


def throughput(params: Parameters, state: State) -> int:
    """Return the highest level that needs at most a share of the mean throughput."""
    last = state.rates_bit_per_s[-params.samples :]
    if not last:
        return 0
    affordable = params.safety * sum(last) / len(last)
    return highest(params, lambda rate: rate <= affordable)


def bola(params: Parameters, state: State) -> int:
    """Return the level that maximises (V (v + gamma p) - Q) / S.

    With R the bit rate, S and v = ln(R / lowest R) are a level's size and utility, and Q is the
    buffer in segments. V = (Qmax - 1) / (highest v + gamma p): the player then never has more than
    Qmax - 1 segments when it asks for a segment.
    """
    ladder = params.ladder_bit_per_s
    utility = [log(rate / ladder[0]) for rate in ladder]
    most = params.buffer_ms / params.segment_ms
    v = (most - 1) / (utility[-1] + params.gamma_p)
    buffered = state.buffer_ns / params.segment_ns
    scores = [
        (v * (one + params.gamma_p) - buffered) / rate
        for one, rate in zip(utility, ladder, strict=True)
    ]
    return scores.index(max(scores))


def buffer(params: Parameters, state: State) -> int:
    """Return the level of BBA-0: it changes only if the rate map passes the next level."""
    ladder, top = params.ladder_bit_per_s, len(params.ladder_bit_per_s) - 1
    before = 0 if state.level is None else state.level
    share = state.buffer_ns / params.buffer_ns
    if share <= params.reservoir_share:
        return 0
    if share >= params.cushion_share:
        return top
    cushion = params.cushion_share - params.reservoir_share
    mapped = ladder[0] + (ladder[-1] - ladder[0]) * (share - params.reservoir_share) / cushion
    if mapped >= ladder[min(before + 1, top)]:
        return highest(params, lambda rate: rate < mapped)
    if mapped <= ladder[max(before - 1, 0)]:
        return highest(params, lambda rate: rate <= mapped) + 1
    return before


def highest(params: Parameters, allowed: Callable[[int], bool]) -> int:
    """Return the highest level whose bit rate is allowed; the lowest if none is."""
    levels = [n for n, rate in enumerate(params.ladder_bit_per_s) if allowed(rate)]
    return max(levels, default=0)


RULES: dict[str, Callable[[Parameters, State], int]] = {
    "throughput": throughput,
    "bola": bola,
    "buffer": buffer,
}


def rate_bit_per_s(size_bytes: int, requested_ns: int, last_byte_ns: int) -> float:
    """Return the throughput of a segment, from its request to its last byte."""
    return size_bytes * 8e9 / max(1, last_byte_ns - requested_ns)
