# SPDX-License-Identifier: GPL-2.0-only
"""Random loss patterns, the same for the kernel and for the model."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.exact_loss import host as exact_loss
from harness.flavors import files as flavors
from tests.flavors import oracle

MSS = 1000
# A round-trip time that is no multiple of the RTO's tick: an ACK and a timeout never meet.
LINK = exact_loss.Link(delay_ns=35_000_000)


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A bulk transfer and its losses; windows in segments."""

    segments: int
    initcwnd: int
    ssthresh: int
    drops: Mapping[int, frozenset[int]]
    marks: Mapping[int, frozenset[int]] = field(default_factory=dict)


def draw(rng: random.Random, again: float = 0.1) -> Pattern:
    """One to six losses somewhere, near each other or not; again: how often twice."""
    segments = rng.randint(40, 120)
    first = rng.randint(0, segments - 1)
    span = rng.choice([5, 10, 30, segments])
    drops: dict[int, set[int]] = defaultdict(set)
    for _ in range(rng.randint(1, 6)):
        drops[min(segments - 1, first + rng.randint(0, span))].add(0)
    for sendings in drops.values():
        if rng.random() < again:
            sendings.add(1)
    return Pattern(
        segments=segments,
        initcwnd=rng.randint(1, 12),
        ssthresh=rng.randint(2, 40),
        drops={segment: frozenset(sendings) for segment, sendings in drops.items()},
    )


def draw_marked(rng: random.Random, again: float = 0.1) -> Pattern:
    """The same, and one to four marks near a loss, or anywhere; one in five loses nothing."""
    pattern = draw(rng, again)
    marks = set()
    for _ in range(rng.randint(1, 4)):
        lost = rng.choice(sorted(pattern.drops))
        near = min(max(lost + rng.randint(-20, 20), 0), pattern.segments - 1)
        marks.add(rng.choice([near, rng.randint(0, pattern.segments - 1)]))
    return replace(
        pattern,
        drops=pattern.drops if rng.random() < 0.8 else {},
        marks={segment: frozenset({0}) for segment in marks},
    )


def connection(
    name: str, pattern: Pattern, flavor: flavors.Flavor, payload: int = MSS
) -> exact_loss.Connection:
    return exact_loss.Connection(
        id=name,
        flavor=flavor.for_hosts(),
        payload_bytes=payload,
        writes=[(0, pattern.segments * payload)],
        initcwnd=pattern.initcwnd,
        ssthresh=pattern.ssthresh,
        drops={segment: sorted(sendings) for segment, sendings in pattern.drops.items()},
        marks={segment: sorted(sendings) for segment, sendings in pattern.marks.items()},
    )


def setup(pattern: Pattern, flavor: str, parameters: Mapping[str, object]) -> oracle.Setup:
    return oracle.Setup(
        flavor=flavor,
        total_bytes=pattern.segments * MSS,
        initcwnd=pattern.initcwnd,
        ssthresh=pattern.ssthresh,
        drops=pattern.drops,
        marks=pattern.marks,
        mss=MSS,
        delay_s=LINK.delay_ns / 1e9,
        sack_rule=str(parameters.get("sack_retransmit", "pipe")),
        pipe_segments=parameters.get("sack_pipe") == "segments",
        byte_window=bool(parameters.get("byte_window", False)),
        partial_reset=parameters.get("newreno_partial") == "reset",
        half_window=parameters.get("ssthresh_rule") == "window",
        recut=parameters.get("resend_boundaries") == "anew",
        multiple=bool(parameters.get("multiple_fast_retransmits", False)),
        flywheel=bool(parameters.get("newreno_flywheel", False)),
    )
