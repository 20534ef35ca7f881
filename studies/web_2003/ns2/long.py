# SPDX-License-Identifier: GPL-2.0-only
"""Long trials in the kernel and in ns-2, and beside them the short ones of the same cells.

Everything is over the seeds that the kernel and ns-2 have in common, so all programs have the same
traces. ns-2 has one Adaptive RED, its own; the kernel has Linux's and that of ns-2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.contrasts import BySeed, Contrast, contrast, differences
from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain
from analysis.statistics import mean
from analysis.table import Row
from studies.web_2003.changes import told
from studies.web_2003.ns2.tables import FIGURES as SHORT_FIGURES
from studies.web_2003.ns2.tables import PLAN, QUEUES, SENDERS
from studies.web_2003.ns2.witness import LONG, SHORT, WITNESS

LOADS = ("80", "105")
HIGH = LOADS[-1]
LENGTHS: Mapping[str, str] = {"10,000": SHORT, "250,000": LONG}
"""Exchanges of a trial, and the experiment."""
KERNEL, NS_2 = "kernel", "ns-2"
TAIL, ARED, ECN = "drop-tail", "ARED", "ARED+ECN"
AS_IN_NS_2 = " as in ns-2"
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "the kernel, Linux's ARED": (KERNEL, ""),
    "the kernel, ns-2's ARED": (KERNEL, AS_IN_NS_2),
    "ns-2": (NS_2, AS_IN_NS_2),
}
"""Title -> the program, and what the names of its two kinds of Adaptive RED end with."""
FIGURES: Mapping[str, tuple[str, float, str]] = {
    **{name: one for name, one in SHORT_FIGURES.items() if name != "p75_ms"},
    "unfinished_share": ("no response (%)", 100, ".2f"),
}
"""Each with its title, what it is multiplied by, and its form."""
CHANGED = ("p25_ms", "median_ms", "p90_ms", "p99_ms")
EFFECTS: Mapping[str, tuple[str, str]] = {
    "ARED in place of drop tail": (ARED, TAIL),
    "ARED+ECN in place of drop tail": (ECN, TAIL),
    "ECN with ARED": (ECN, ARED),
}
"""Title -> a queue, and the queue that it is compared with."""


class Cell(NamedTuple):
    """A cell of one program; the queue by the kernel's name."""

    program: str
    load: str
    sender: str
    queue: str


class Lines:
    """The kept lines of an experiment: cell -> seed -> line, of the seeds that both programs have.

    A seed counts for a load and a sender if ns-2 has all of its queues.
    """

    def __init__(self, kept: Kept, experiment: str) -> None:
        found: dict[Cell, dict[int, Row]] = {}
        for program, name in ((KERNEL, "trials"), (NS_2, WITNESS.name)):
            for row in kept.table(experiment, name).rows:
                if row.get("variant", PLAN) == PLAN:
                    cell = Cell(program, row["load"], row["sender"], row["queue"])
                    found.setdefault(cell, {})[int(row["seed"])] = row
        self._found = found

    def seeds(self, load: str, sender: str) -> list[int]:
        """Those of all queues in both programs."""
        wanted = [Cell(KERNEL, load, sender, queue) for queue in QUEUES]
        wanted += [Cell(NS_2, load, sender, queue) for queue in set(QUEUES.values())]
        return sorted(set.intersection(*(set(self._found.get(one, ())) for one in wanted)))

    def rows(self, cell: Cell) -> list[Row]:
        """One for each of the seeds."""
        return [self._found[cell][seed] for seed in self.seeds(cell.load, cell.sender)]

    def logarithms(self, cell: Cell, figure: str) -> BySeed | None:
        """Of a figure; None where it is infinite or 0 with one of the seeds."""
        values = {int(row["seed"]): number(row, figure) for row in self.rows(cell)}
        known = {seed: math.log(value) for seed, value in values.items() if value}
        return known if known and len(known) == len(values) else None

    def change(self, figure: str, of: Cell, to: Cell) -> Contrast | None:
        """From the second to the first, paired by seed; None where one of them has no ratio."""
        both = [self.logarithms(cell, figure) for cell in (of, to)]
        first, second = both
        return None if first is None or second is None else contrast(differences([first], [second]))


def places(lines: Lines) -> Iterator[tuple[str, str]]:
    """The loads and senders that both programs have."""
    return ((load, who) for load in LOADS for who in SENDERS if lines.seeds(load, who))


def side_by_side(kept: Kept) -> Sheet:
    """The figures of the long trials: the kernel with either Adaptive RED, and ns-2."""
    lines = Lines(kept, LONG)
    rows: list[list[Value]] = [
        [f"{load} %", sender, queue, title, *_means(lines.rows(cell))]
        for load, sender in places(lines)
        for queue in (TAIL, ARED, ECN)
        for title, cell in _programs(load, sender, queue).items()
    ]
    heads = [(title, form) for title, _, form in FIGURES.values()]
    return plain(rows, "load", "sender", "queue", "in", "seeds", *heads)


def _programs(load: str, sender: str, queue: str) -> Mapping[str, Cell]:
    """Of drop tail the kernel has one."""
    if queue == TAIL:
        both_have = {"the kernel": KERNEL, NS_2: NS_2}
        return {title: Cell(name, load, sender, queue) for title, name in both_have.items()}
    return {
        title: Cell(program, load, sender, queue + ending)
        for title, (program, ending) in PROGRAMS.items()
    }


def _means(rows: Sequence[Row]) -> list[Value]:
    """Over the seeds; or in how many trials the figure is infinite."""
    told: list[Value] = [len(rows)]
    for name, (_, factor, _) in FIGURES.items():
        values = [number(row, name) for row in rows]
        known = [factor * value for value in values if value is not None]
        infinite = len(values) - len(known)
        told.append(f"infinite in {infinite} of {len(values)}" if infinite else mean(known))
    return told


def distances(kept: Kept) -> Sheet:
    """What ns-2 changes from the kernel, with each of the kernel's queues and each length."""
    found = {length: Lines(kept, experiment) for length, experiment in LENGTHS.items()}
    rows: list[list[Value]] = [
        [f"{load} %", sender, queue, length, len(lines.seeds(load, sender)),
         *(_text(lines.change(name, *both(load, sender, queue))) for name in FIGURES)]
        for load, sender in places(found["250,000"])
        for queue in QUEUES
        for length, lines in found.items()
        if lines.seeds(load, sender)
    ]  # fmt: skip
    titles = [title.partition(" (")[0] for title, _, _ in FIGURES.values()]
    return plain(rows, "load", "sender", "the kernel's queue", "exchanges", "seeds", *titles)


def both(load: str, sender: str, queue: str) -> tuple[Cell, Cell]:
    """That of ns-2, and the kernel's with this queue."""
    return Cell(NS_2, load, sender, QUEUES[queue]), Cell(KERNEL, load, sender, queue)


def _text(change: Contrast | None) -> str | None:
    return None if change is None else told(change)


def effects(kept: Kept) -> Sheet:
    """What Adaptive RED and ECN change at 105 % in each program, with each length; of SACK."""
    found = [(length, Lines(kept, experiment)) for length, experiment in LENGTHS.items()]
    rows: list[list[Value]] = [
        [title, figure, *(_text(effect(lines, title, figure, program))
                          for program in PROGRAMS for _, lines in found)]
        for title in EFFECTS
        for figure in CHANGED
    ]  # fmt: skip
    for row in rows:
        row[1] = _TITLES[str(row[1])]
    heads = [f"{program}, {length}" for program in PROGRAMS for length, _ in found]
    return plain(rows, "at 105 %, with SACK", "figure", *heads)


_TITLES = {"p25_ms": "25 %", "median_ms": "median", "p90_ms": "90 %", "p99_ms": "99 %"}


def effect(lines: Lines, title: str, figure: str, program: str) -> Contrast | None:
    """Of EFFECTS, in one of PROGRAMS."""
    name, ending = PROGRAMS[program]
    of, to = (
        Cell(name, HIGH, "SACK", queue + (ending if queue != TAIL else ""))
        for queue in EFFECTS[title]
    )
    return lines.change(figure, of, to)
