# SPDX-License-Identifier: GPL-2.0-only
"""A comparison in words: first the answer, then the figures, then where it begins."""

from collections.abc import Iterator

from analysis.compare.difference import Divergence, Side
from analysis.compare.levels import Comparison, Pair, Response

NARROW = 12  # letters of a level, and of a figure
ROUNDING = 1e-12  # of a mean of equal numbers


def lines(comparison: Comparison) -> Iterator[str]:
    """The whole text."""
    one, other = comparison.levels
    count = len(comparison.pairs)
    pairs = f"{count} pair{'' if count == 1 else 's'} of trials"
    yield f"{comparison.factor}: {other} against {one}, {pairs}"
    yield answer(comparison)
    if comparison.identical:
        return
    yield ""
    first, second = (max(NARROW, len(level) + 2) for level in (one, other))
    yield f"{'response':14}{one:>{first}}{other:>{second}}  difference, 95 % interval"
    yield from (figures(response, first, second) for response in comparison.responses)
    yield from basis(comparison)
    for name in comparison.one_sided:
        yield f"{name:14}known at one level only in some pair"
    parted = earliest(comparison)
    if parted is not None and parted.divergence is not None:
        yield ""
        yield from parting(comparison, parted, parted.divergence)


def answer(comparison: Comparison) -> str:
    """In one line: the same or not, and from where on."""
    if comparison.identical:
        return "byte-identical"
    differ = [pair for pair in comparison.pairs if not pair.identical]
    parted = earliest(comparison)
    if parted is None or parted.divergence is None:
        names = sorted({name for pair in differ for name in pair.changed})
        return f"every segment the same, at the same time; differs in {', '.join(names)}"
    at = parted.divergence
    how_many = "1 pair differs" if len(differ) == 1 else f"{len(differ)} pairs differ"
    return (
        f"{how_many}. The first difference is "
        f"segment {at.number:,} of pair {at.pair}{on_link(at)} at {at.time_ns / 1e9:.9f} s "
        f"({place(comparison, parted)})"
    )


def earliest(comparison: Comparison) -> Pair | None:
    """The pair of trials that parts first."""
    parted = [pair for pair in comparison.pairs if pair.divergence is not None]
    return min(parted, key=lambda p: p.divergence.time_ns if p.divergence else 0, default=None)


def place(comparison: Comparison, pair: Pair) -> str:
    """Cell and seed."""
    return ", ".join([*cell(comparison, pair), f"seed {pair.first.seed}"])


def cell(comparison: Comparison, pair: Pair) -> tuple[str, ...]:
    """The levels of the other factors."""
    others = pair.first.factors.items()
    return tuple(f"{name} {level}" for name, level in others if name != comparison.factor)


def figures(response: Response, first: int, second: int) -> str:
    """A response at both levels, in so many letters, and the mean of the pairs' differences."""
    half = width(response)
    interval = f" +- {half:.4f}" if half else ""
    return (
        f"{response.name:14}{response.first:{first}.4f}{response.second:{second}.4f}"
        f"  {response.difference.mean:+.4f}{interval}"
    )


def width(response: Response) -> float:
    """Half of the interval's width; 0 without one, and where all differences are the same."""
    half = response.difference.half_width or 0.0
    return half if half > ROUNDING * abs(response.difference.mean) else 0.0


def basis(comparison: Comparison) -> Iterator[str]:
    """What n is, over what a difference is a mean and an interval goes, and why one is missing."""
    numbers = sorted({one.difference.n for one in comparison.responses})
    if not numbers:
        return
    if numbers == [1]:
        yield "n = 1 pair of trials, so there is no interval"
        return
    cells = {cell(comparison, pair) for pair in comparison.pairs}
    seeds = {pair.first.seed for pair in comparison.pairs}
    over = f"{len(cells)} combination{'s' * (len(cells) > 1)} of the other levels"
    by = f"{len(seeds)} seed{'s' * (len(seeds) > 1)}"
    n = " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))
    yield f"n = {n} pairs of trials ({over}, {by}); the interval is over these pairs"
    if any(one.difference.n > 1 and not width(one) for one in comparison.responses):
        yield "a difference without an interval is the same in all pairs"


def parting(comparison: Comparison, pair: Pair, at: Divergence) -> Iterator[str]:
    """The first segment that differs, in both trials."""
    yield f"segment {at.number:,} of pair {at.pair}{on_link(at)}, {place(comparison, pair)}:"
    for level, of_level in zip(comparison.levels, (at.first, at.second), strict=True):
        yield f"  {level}: {segment(of_level)}"
        yield f"  {'':{len(level)}}  {window(of_level)}"


def on_link(at: Divergence) -> str:
    """The link on which the segment passed, where there are several."""
    return f" on {at.link}" if at.link else ""


def segment(side: Side) -> str:
    """What was sent, and when."""
    if side.segment is None:
        return "no such segment"
    return f"{side.segment.time_ns / 1e9:.9f} s {side.segment}"


def window(side: Side) -> str:
    """The sender's state."""
    if side.cwnd_segments is None:
        return "window not known"
    ssthresh = side.ssthresh_segments
    known = "not known" if ssthresh is None else f"{ssthresh:g}"
    return f"window {side.cwnd_segments:g} segments, slow start threshold {known}"
