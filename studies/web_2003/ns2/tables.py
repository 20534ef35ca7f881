# SPDX-License-Identifier: GPL-2.0-only
"""The README's tables of ns-2 beside the kernel, from the kept lines of both.

Each line of ns-2 stands beside the kernel's of the same load, sender and seed, whose trace was the
same; a mean is over the seeds that both have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain, signed
from analysis.statistics import mean
from analysis.table import Row
from studies.web_2003.ns2.witness import SHORT, WITNESS

FIGURES: Mapping[str, tuple[str, float, str]] = {
    "median_ms": ("median (ms)", 1, ",.0f"),
    "p75_ms": ("75 % (ms)", 1, ",.0f"),
    "p90_ms": ("90 % (ms)", 1, ",.0f"),
    "p99_ms": ("99 % (ms)", 1, ",.0f"),
    "dropped_share": ("packets dropped (%)", 100, ".1f"),
    "resent_bytes_share": ("bytes sent again (%)", 100, ".1f"),
}
"""Each with its title, what it is multiplied by, and its form."""
QUEUES = {
    "drop-tail": "drop-tail",
    "ARED as in ns-2": "ARED as in ns-2",
    "ARED+ECN as in ns-2": "ARED+ECN as in ns-2",
    "ARED": "ARED as in ns-2",
    "ARED+ECN": "ARED+ECN as in ns-2",
}
"""The kernel's, and the queue of ns-2 beside it: its own RED beside Linux's, too."""
LOADS, SENDERS = ("50", "80", "90", "105"), ("Reno", "SACK")
CAMPAIGN, PLAN = SHORT, WITNESS.variants[0]
TICKS = "web-ticks"
CLOCKS = {"100 ms": PLAN, "10 ms": "ticks of 10 ms"}
"""Of the timeouts: levels of web-ticks.toml, and the variants of ns-2."""


@dataclass(frozen=True)
class Pair:
    """The kernel's line and that of ns-2, of one load, sender, queue of the kernel and seed."""

    load: str
    sender: str
    queue: str
    kernel: Row
    ns_2: Row

    def ratio(self, figure: str) -> float | None:
        """ns-2's value over the kernel's; None where one has none, or the kernel's is 0."""
        ours, theirs = number(self.kernel, figure), number(self.ns_2, figure)
        return theirs / ours if ours and theirs is not None else None


def pairs(kept: Kept, campaign: str = CAMPAIGN) -> Iterator[Pair]:
    """All that both have."""
    witness = {
        (row["load"], row["sender"], row["queue"], row["seed"]): row
        for row in kept.table(campaign, WITNESS.name).rows
        if row["variant"] == PLAN
    }
    for row in kept.table(campaign, "trials").rows:
        load, sender, queue, seed = (row[name] for name in ("load", "sender", "queue", "seed"))
        beside = witness.get((load, sender, QUEUES[queue], seed))
        if beside is not None:
            yield Pair(load, sender, queue, row, beside)


def side_by_side(kept: Kept) -> Sheet:
    """Each figure of the kernel, and after it that of ns-2."""
    found = list(pairs(kept))
    rows: list[list[Value]] = [
        [f"{load} %", sender, queue, len(some), *(_both(some, figure) for figure in FIGURES)]
        for load in LOADS
        for queue in QUEUES
        for sender in SENDERS
        if (some := [p for p in found if (p.load, p.sender, p.queue) == (load, sender, queue)])
    ]
    titles = [f"{title}: kernel, ns-2" for title, _, _ in FIGURES.values()]
    return plain(rows, "load", "sender", "the kernel's queue", "seeds", *titles)


def _both(some: Sequence[Pair], figure: str) -> str:
    _, factor, form = FIGURES[figure]
    values = [[number(row, figure) for row in (pair.kernel, pair.ns_2)] for pair in some]
    known = [value for value in zip(*values, strict=True) if None not in value]
    texts = [format(factor * mean([x for x in side if x is not None]), form) for side in known]
    return ", ".join(texts) if len(texts) == 2 else "–"


def agreement(kept: Kept) -> Sheet:
    """By how much ns-2 is above the kernel, over all loads, senders and seeds."""
    found = list(pairs(kept))
    rules = {
        "drop tail": lambda queue: queue == "drop-tail",
        "ns-2's rule in the kernel": lambda queue: queue.endswith("as in ns-2"),
        "Linux's rule in the kernel": lambda queue: queue in ("ARED", "ARED+ECN"),
    }
    rows: list[list[Value]] = []
    for rule, is_of in rules.items():
        for load in LOADS:
            some = [pair for pair in found if pair.load == load and is_of(pair.queue)]
            if some:
                figures = [_spread(some, figure) for figure in FIGURES]
                rows.append([rule, f"{load} %", len(some), *figures])
    titles = [title.partition(" (")[0] for title, _, _ in FIGURES.values()]
    return plain(rows, "queue", "load", "pairs of runs", *titles)


def _spread(some: Sequence[Pair], figure: str) -> str:
    """The mean difference in percent, and the least and largest."""
    known = [ratio for pair in some if (ratio := pair.ratio(figure)) is not None]
    if not known:
        return "–"
    centre, least, most = map(_percent, (mean(known), min(known), max(known)))
    return f"{centre} % ({least} to {most})"


def _percent(ratio: float) -> str:
    return signed(format(100 * (ratio - 1), "+.0f"))


def ticks(kept: Kept) -> Sheet:
    """Both clocks of the timeouts, in the kernel and in ns-2, of the same traces."""
    rows: list[list[Value]] = []
    for tick, found in clocks(kept).items():
        for sender in SENDERS:
            if some := [pair for pair in found if pair.sender == sender]:
                rows.append([tick, sender, len(some), *(_both(some, name) for name in FIGURES)])
    titles = [f"{title}: kernel, ns-2" for title, _, _ in FIGURES.values()]
    return plain(rows, "ticks of", "sender", "seeds", *titles)


def clocks(kept: Kept) -> Mapping[str, Sequence[Pair]]:
    """The pairs with each of CLOCKS, of the senders and seeds that have been run with all."""
    found = {tick: list(_of_clock(kept, tick)) for tick in CLOCKS}
    whole = set.intersection(*({_sender_and_seed(one) for one in some} for some in found.values()))
    return {
        tick: [one for one in some if _sender_and_seed(one) in whole]
        for tick, some in found.items()
    }


def _sender_and_seed(pair: Pair) -> tuple[str, str]:
    return pair.sender, pair.kernel["seed"]


def _of_clock(kept: Kept, tick: str) -> Iterator[Pair]:
    witness = {
        (row["sender"], row["seed"]): row
        for row in kept.table(CAMPAIGN, WITNESS.name).rows
        if (row["load"], row["queue"], row["variant"]) == ("105", "drop-tail", CLOCKS[tick])
    }
    for row in kept.table(TICKS, "trials").rows:
        beside = witness.get((row["sender"], row["seed"]))
        if row["tick"] == tick and beside is not None:
            yield Pair("105", row["sender"], "drop-tail", row, beside)


def variants(kept: Kept) -> Sheet:
    """What a default of ns-2's changes there: SACK at 80 %, against the plan's options."""
    lines = [
        row
        for row in kept.table(CAMPAIGN, WITNESS.name).rows
        if (row["load"], row["sender"]) == ("80", "SACK")
    ]
    rows: list[list[Value]] = []
    for queue in dict.fromkeys(QUEUES.values()):
        for variant in WITNESS.variants[1:]:
            some = [row for row in lines if (row["queue"], row["variant"]) == (queue, variant)]
            seeds = {row["seed"] for row in some}
            base = [
                row
                for row in lines
                if row["queue"] == queue and row["variant"] == PLAN and row["seed"] in seeds
            ]
            if some and len(base) == len(some):
                changes = [_change(base, some, figure) for figure in FIGURES]
                rows.append([queue, variant, len(some), *changes])
    titles = [title.partition(" (")[0] for title, _, _ in FIGURES.values()]
    return plain(rows, "queue", "in ns-2", "seeds", *titles)


def _change(base: Sequence[Row], some: Sequence[Row], figure: str) -> str:
    """The mean over the seeds, and its difference from the plan's in percent."""
    _, factor, form = FIGURES[figure]
    before, after = ([number(row, figure) for row in rows] for rows in (base, some))
    if None in before or None in after:
        return "–"
    old, new = (mean([x for x in values if x is not None]) for values in (before, after))
    return format(factor * new, form) + (f" ({_percent(new / old)} %)" if old else "")
