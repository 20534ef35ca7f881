# SPDX-License-Identifier: GPL-2.0-only
"""README's tables of what the paper leaves open, and of the way from the later RFCs to its word."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from studies.ubrplus_1998.cells import RESPONSES, apart, cells_of, change, distance, pair
from studies.ubrplus_1998.study import CELL

DEFAULT = "default"
AS_IT_IS = "as the experiment has it"


@dataclass(frozen=True)
class Assumptions:
    """A campaign that changes one thing at a time; what its levels of `assumption` are."""

    campaign: str
    readings: Mapping[str, str]

    def changes(
        self, networks: Sequence[str], buffer: str, flavors: Sequence[str]
    ) -> Callable[[Kept], Sheet]:
        """Values of the default, then the changes that each assumption makes to them."""
        places = [(network, flavor) for network in networks for flavor in flavors]
        names = [flavor if len(networks) == 1 else f"{net} {flavor}" for net, flavor in places]

        def made(kept: Kept) -> Sheet:
            table = cells_of(kept, self.campaign, buffer=buffer)
            cells = {(row["network"], row["flavor"], row["assumption"]): row for row in table}
            base = {place: cells[(*place, DEFAULT)] for place in places}
            rows: list[list[Value]] = [[AS_IT_IS, *map(pair, base.values())]]
            for level, text in self.readings.items():
                found = [change(cells.get((*place, level)), base[place]) for place in places]
                if any(found):
                    rows.append([text, *found])
            return plain(rows, "", *names)

        return made

    def distances(self, kept: Kept) -> Sheet:
        """Mean absolute difference to the paper over the WAN cells, by assumption."""
        rows: list[list[Value]] = []
        for level, text in {DEFAULT: AS_IT_IS, **self.readings}.items():
            cells = cells_of(kept, self.campaign, network="WAN", assumption=level)
            if len(cells) == 8:  # of all four flavors at two buffers
                rows.append([text, *(distance(cells, name)[0] for name in RESPONSES)])
        rows.sort(key=lambda row: float(row[1] or 0))
        return plain(rows, "changed", *((response, ".3f") for response in RESPONSES))


RFC = Assumptions("ubrplus-www-rfc-assumptions", {
    "full segments": "windows in whole segments",
    "short segments again": "what is sent again keeps its boundaries",
    "spread starts": "first batches spread over 10 s",
    "idle restart": "window restarts after an idle RTO",
    "kernel timer": "the kernel's own RTO and timer",
    "minimum RTO 1 s": "minimum RTO 1 s",
    "first RTO 1 s": "first RTO 1 s, not 3 s",
    "backoff any ACK": "any ACK ends the backoff",
    "small return buffer": "100 cells in the return direction",
    "initial window 2": "initial window of 2 segments",
    "partial ACK resets": "NewReno: a partial ACK resets cwnd to ssthresh",
    "keep scoreboard": "SACK: scoreboard kept after a timeout",
    "SACK hole again": "SACK: a hole is sent again after an RTT",
})  # fmt: skip
TEXT = Assumptions("ubrplus-www-assumptions", {
    "minimum 1 s": "minimum RTO 1 s",
    "first RTO 1 s": "first RTO 1 s, not 3 s",
    "first RTO 6 s": "first RTO 6 s",
    "jittered starts": "all clients ask within 10 ms, not at once",
    "minimum 1 s and jittered starts": "all within 10 ms, and minimum RTO 1 s",
    "spread starts": "first batches spread over 10 s",
    "idle restart": "window restarts after an idle RTO",
    "minimum 1 s and idle restart": "window restarts, and minimum RTO 1 s",
    "full segments": "windows in whole segments",
    "small return buffer": "100 cells in the return direction",
    "SACK three above": "SACK: a hole waits for three segments above it",
    "SACK hole again": "SACK: a hole is sent again after an RTT",
})  # fmt: skip

PATH = "ubrplus-www-path"
STEPS = {
    "later RFCs": "senders of the later RFCs",
    "partial ACK resets": "NewReno: a partial ACK resets cwnd to ssthresh",
    "flywheel": "NewReno: a new segment every second duplicate ACK",
    "second fast retransmit": "a second fast retransmit while a timeout is repaired",
    "PIPE in segments": "SACK: PIPE counts segments",
    "half the window": "ssthresh is half the window, not the flight",
    "cut anew": "data that is sent again is cut anew",
    "one stream": "header and file are one stream",
    "minimum 1 s": "minimum RTO 1 s",
}
"""The steps in their order, each kept by the next: what each changes."""


def path(kept: Kept) -> Sheet:
    """Mean efficiency at the path's two ends, and what each step between them changes."""
    found, changes = _along(kept), step_changes(kept)
    first, *_, last = found.values()
    rows: list[list[Value]] = [[STEPS["later RFCs"], *(f"{x:.3f}" for x in first.values())]]
    for step, some in changes.items():
        rows.append([STEPS[step], *(signed(f"{x:+.3f}") for x in some.values())])
    rows.append(["chance alone: two seeds of the same senders (95 %)"])
    rows[-1] += [f"± {x:.3f}" for x in by_chance(kept).values()]
    rows.append(["at the end", *(f"{x:.3f}" for x in last.values())])
    paper = [_mean(kept, "later RFCs", *group, "efficiency_published") for group in last]
    rows.append(["paper", *(f"{value:.3f}" for value in paper)])
    return plain(rows, "", *(" ".join(group) for group in last))


def step_changes(kept: Kept) -> dict[str, dict[tuple[str, str], float]]:
    """Step -> (network, flavor) -> its mean efficiency less that of the step before."""
    found = _along(kept)
    return {
        after: {group: found[after][group] - x for group, x in found[before].items()}
        for before, after in pairwise(STEPS)
    }


def by_chance(kept: Kept) -> dict[tuple[str, str], float]:
    """(network, flavor) -> how far two single seeds may lie apart, over the buffers with EPD (95 %)

    By the deviation of the kept seeds: of the three sets of senders, that with the largest.
    """
    return {
        (network, flavor): max(
            math.hypot(*(apart(row, "efficiency") for row in cells)) / len(cells)
            for campaign, where in ENDS
            for cells in [
                cells_of(kept, campaign, network=network, flavor=flavor, policy="EPD", **where)
            ]
        )
        for network in CELL["network"]
        for flavor in CELL["flavor"]
    }


ENDS: Sequence[tuple[str, Mapping[str, str]]] = (
    ("ubrplus-www-rfc", {}),
    ("ubrplus-www-text", {"minimum": "2 ticks"}),
    ("ubrplus-www-text", {"minimum": "1 s"}),
)
"""Campaigns of ten seeds with the senders at the path's ends."""


def _along(kept: Kept) -> dict[str, dict[tuple[str, str], float]]:
    """Step -> (network, flavor) -> mean efficiency over the buffers."""
    groups = [(network, flavor) for network in CELL["network"] for flavor in CELL["flavor"]]
    return {
        step: {group: _mean(kept, step, *group, "efficiency") for group in groups} for step in STEPS
    }


def _mean(kept: Kept, step: str, network: str, flavor: str, column: str) -> float:
    cells = cells_of(kept, PATH, step=step, network=network, flavor=flavor)
    return fmean(float(row[column]) for row in cells)


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "open-wan": TEXT.changes(["WAN"], "0.5", CELL["flavor"]),
    "open-long-paths": TEXT.changes(["MEO", "GEO"], "0.5", ["Reno", "SACK"]),
    "open-distances": TEXT.distances,
    "path": path,
    "rfc-wan": RFC.changes(["WAN"], "0.5", CELL["flavor"]),
}
