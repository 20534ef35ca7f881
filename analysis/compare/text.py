# SPDX-License-Identifier: GPL-2.0-only
"""Comparisons in words: first the answer, then the figures, then where it begins."""

from collections.abc import Iterator

from analysis.compare.difference import Divergence, Side
from analysis.compare.levels import Comparison, Comparisons, Response

NARROW = 12  # letters of a level, and of a figure
ROUNDING = 1e-12  # of a mean of equal numbers


def lines(found: Comparisons) -> Iterator[str]:
    """The whole text."""
    one, other = found.levels
    yield f"{found.factor}: {other} against {one}, {comparisons(len(found.each))}"
    yield answer(found)
    if found.identical:
        return
    yield ""
    first, second = (max(NARROW, len(level) + 2) for level in (one, other))
    yield f"{'response':14}{one:>{first}}{other:>{second}}  difference, 95 % interval"
    yield from (figures(response, first, second) for response in found.responses)
    yield from basis(found)
    for name in found.one_sided:
        yield f"{name:14}known at one level only in some comparison"
    parted = earliest(found)
    if parted is not None and parted.divergence is not None:
        yield ""
        yield from parting(found, parted, parted.divergence)


def comparisons(count: int) -> str:
    """So many of them."""
    return f"{count} comparison{'s' * (count != 1)}"


def answer(found: Comparisons) -> str:
    """In one line: the same or not, and from where on."""
    if found.identical:
        return "byte-identical"
    differ = [one for one in found.each if not one.identical]
    parted = earliest(found)
    if parted is None or parted.divergence is None:
        names = sorted({name for one in differ for name in one.changed})
        return f"every segment the same, at the same time; differs in {', '.join(names)}"
    at = parted.divergence
    every = len(found.each)
    how_many = f"{len(differ)} of {every} comparisons show a difference. " if every > 1 else ""
    return (
        f"{how_many}The first difference is "
        f"segment {at.number:,} of pair {at.pair}{on_link(at)} at {at.time_ns / 1e9:.9f} s "
        f"({place(found, parted)})"
    )


def earliest(found: Comparisons) -> Comparison | None:
    """The comparison whose trials part first."""
    parted = [one for one in found.each if one.divergence is not None]
    return min(parted, key=lambda p: p.divergence.time_ns if p.divergence else 0, default=None)


def place(found: Comparisons, one: Comparison) -> str:
    """Cell and seed."""
    return ", ".join([*cell(found, one), f"seed {one.first.seed}"])


def cell(found: Comparisons, one: Comparison) -> tuple[str, ...]:
    """The levels of the other factors."""
    others = one.first.factors.items()
    return tuple(f"{name} {level}" for name, level in others if name != found.factor)


def figures(response: Response, first: int, second: int) -> str:
    """A response at both levels, in so many letters, and the mean of the differences."""
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


def basis(found: Comparisons) -> Iterator[str]:
    """What n is, over what a difference is a mean and an interval goes, and why one is missing."""
    numbers = sorted({one.difference.n for one in found.responses})
    if not numbers:
        return
    if numbers == [1]:
        yield "n = 1 comparison, so there is no interval"
        return
    cells = {cell(found, one) for one in found.each}
    seeds = {one.first.seed for one in found.each}
    over = f"{len(cells)} combination{'s' * (len(cells) > 1)} of the other levels"
    by = f"{len(seeds)} seed{'s' * (len(seeds) > 1)}"
    n = " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))
    yield f"n = {n} comparisons ({over}, {by}); the interval is over these comparisons"
    if any(one.difference.n > 1 and not width(one) for one in found.responses):
        yield "a difference without an interval is the same in all comparisons"


def parting(found: Comparisons, one: Comparison, at: Divergence) -> Iterator[str]:
    """The first segment that differs, in both trials."""
    yield f"segment {at.number:,} of pair {at.pair}{on_link(at)}, {place(found, one)}:"
    for level, of_level in zip(found.levels, (at.first, at.second), strict=True):
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
