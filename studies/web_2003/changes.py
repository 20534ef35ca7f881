# SPDX-License-Identifier: GPL-2.0-only
"""How a change is written: in per cent, with its interval where several seeds give one.

A change is the mean over the seeds of the logarithm of a ratio, as a part of 1: trials of a seed
carry the same trace.
"""

import math

from analysis.contrasts import Contrast
from analysis.report.model import signed


def told(change: Contrast) -> str:
    """In per cent, with the 95 % interval in brackets; without one where there is one seed."""
    text, half = percent(change.difference), change.half_width
    if half is None:
        return text
    ends = (percent(change.difference + sign * half) for sign in (-1, 1))
    return f"{text} ({' to '.join(ends)})"


def percent(value: float) -> str:
    """A logarithm of a ratio as a change in per cent."""
    return signed(f"{100 * math.expm1(value):+.0f}") + " %"


def sure(change: Contrast) -> bool:
    """Does its 95 % interval exclude no change?"""
    half = change.half_width
    return half is not None and abs(change.difference) > half


def how(seeds: int) -> str:
    """What the number of seeds says of a change's interval."""
    if seeds == 1:
        return "one seed, so without an interval"
    return f"{seeds} seeds, paired, with 95 % intervals in brackets"
