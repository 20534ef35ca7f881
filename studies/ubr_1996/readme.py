# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean

from analysis import kept_trials
from analysis.kept import Kept, number
from analysis.kept_trials import KeptTrial
from analysis.report.model import Sheet, Value, plain, signed
from analysis.statistics import Estimate, estimate
from analysis.table import Row
from studies.ubr_1996 import verdicts

MAIN, OPEN, SLOW, BEYOND = (
    "ubr-persistent",
    "ubr-persistent-assumptions",
    "ubr-persistent-slow-timer",
    "ubr-persistent-beyond",
)
CLOCK = "ubr-persistent-clock"
RESPONSES = ("efficiency", "fairness")
ROW = ("network", "buffer", "window", "policy")
CHANGES = {
    "together": "all start within 10 ms",
    "first-second": "first second only",
    "rto-min-1s": "minimum timeout 1 s",
    "rto-min-100ms": "minimum timeout 100 ms (one row)",
    "any-ack": "backoff ends with any ACK",
    "flight": "after a loss half of what is outstanding",
    "ssthresh-2": "no slow start at first",
    "bytes": "windows in bytes, filled by segments shorter than the MSS",
}


def rows(kept: Kept) -> Sheet:
    """Its rows, measured beside published."""
    found = published(kept, MAIN)
    columns = [f"{name}{kind}" for name in RESPONSES for kind in ("", "_published")]
    lines = [
        [*(row[factor] for factor in ROW), *(number(row, column) for column in columns)]
        for row in found
    ]
    paper = ("paper", ".2f")
    return plain(lines, *ROW, ("efficiency", ".3f"), paper, ("fairness", ".3f"), paper)


def published(kept: Kept, campaign: str) -> list[Row]:
    """The cells of a campaign that the paper has."""
    return [row for row in kept.cells(campaign).rows if row["efficiency_published"]]


def first_8s(kept: Kept) -> Sheet:
    """WAN: the interval after the start against the first 8 s, and with a slow timer."""
    found: list[list[Value]] = []
    for row in kept.cells(MAIN).rows:
        levels = {factor: row[factor] for factor in ROW}
        if row["network"] == "WAN" and row["sources"] == "5" and row["efficiency_published"]:
            start = kept.cell(OPEN, **levels, assumption="first-8s")
            slow = kept.cell(SLOW, **levels)
            measured = [number(one, "efficiency") for one in (row, start, slow)]
            theirs = [number(row, f"{name}_published") for name in RESPONSES]
            fair = number(start, "fairness")
            found.append([*list(levels.values())[1:], *measured, theirs[0], fair, theirs[1]])
    heads = ("from 2 to 12 s", "first 8 s", "first 8 s, minimum RTO 1 s")
    figures = [(head, ".3f") for head in heads]
    paper = ("paper", ".2f")
    return plain(found, *ROW[1:], *figures, paper, ("fairness, first 8 s", ".3f"), paper)


def timeouts(kept: Kept) -> Sheet:
    """LAN rows with losses: fairness by the number of timeouts that a source lives through."""
    open_points = {
        level: [
            row
            for row in kept.cells(OPEN).rows
            if row["network"] == "LAN" and row["assumption"] == level
        ]
        for level in ("base", "rto-min-1s", "first-second")
    }
    lossy = [row for row in _lan(kept, MAIN) if row["policy"] != "EPD-n"]
    measured: dict[str, Sequence[Row]] = {
        "from 2 to 12 s, minimum 200 ms (four rows)": open_points["base"],
        "the same, minimum 1 s": open_points["rto-min-1s"],
        "first second, minimum 200 ms": open_points["first-second"],
        "first 8 s, minimum 1 s (all eight rows)": _lan(kept, SLOW),
        "from 2 to 12 s, minimum 200 ms (all eight rows)": lossy,
    }
    found: list[list[Value]] = [
        [name, mean(some, "timeouts") / 5, *(mean(some, response) for response in RESPONSES)]
        for name, some in measured.items()
    ]
    found.append(["paper (all eight rows)", None])
    found[-1] += [mean(lossy, f"{response}_published") for response in RESPONSES]
    heads = (("timeouts a source", ".1f"), *((response, ".2f") for response in RESPONSES))
    return plain(found, "measurement", *heads)


def effects(kept: Kept) -> Sheet:
    """LAN: effect of each open point on efficiency, with its 95 % interval over the rows."""
    found: list[list[Value]] = []
    for level, text in CHANGES.items():
        one = effect(kept, level)
        half = "" if one.half_width is None else f" ± {one.half_width:.2f}"
        found.append([text, signed(f"{one.mean:+.2f}") + half])
    return plain(found, "changed", "effect on efficiency")


def effect(kept: Kept, level: str) -> Estimate:
    """LAN: what one open point changes in the efficiency, over the rows that have it."""
    cells = {
        (*(row[factor] for factor in ROW), row["assumption"]): float(row["efficiency"])
        for row in kept.cells(OPEN).rows
        if row["network"] == "LAN"
    }
    gains = [own - cells[(*key[:-1], "base")] for key, own in cells.items() if key[-1] == level]
    return estimate(gains)


def clock(kept: Kept) -> Sheet:
    """LAN: sources that start together, by the clock of their timeouts and by the least timeout."""
    factors = ("policy", "clock", "minimum")
    rows: list[list[Value]] = [
        [*(row[factor] for factor in factors), row["seeds"], *map(partial(number, row), FIGURES)]
        for row in kept.cells(CLOCK).rows
    ]
    heads = [(f"{response}{of}", ".2f") for response in RESPONSES for of in ("", ", ±", ", paper")]
    return plain(rows, *factors, "seeds", *heads)


FIGURES = [f"{response}{of}" for response in RESPONSES for of in ("", "_half_width", "_published")]
"""Columns of a cell: what was measured, its 95 % interval, and the paper's figure."""


def windows(kept: Kept) -> Sheet:
    """The largest queue and the sum of the windows."""
    heads = {
        "network": "network",
        "sources": "sources",
        "window": "window",
        "segments": "segments",
        "windows_cells": "sum of windows",
        "path_cells": "on the path",
        "full_queue_cells": "left",
        "peak_cells": "largest queue",
    }
    table = kept.table(MAIN, "windows")
    rows = [[row[name] for name in heads] for row in table.rows]
    return plain(rows, *heads.values())


def flavors(kept: Kept) -> Sheet:
    """Later senders: means over the four rows of each network."""
    found = [row for row in kept.cells(BEYOND).rows if row["sources"] == "5"]
    found = [row for row in found if row["buffer"] != "10000"]
    names = list(dict.fromkeys(row["flavor"] for row in found))
    lines: list[list[Value]] = []
    for response in RESPONSES:
        for network in ("LAN", "WAN"):
            for policy in ("plain", "EPD"):
                of = {"network": network, "policy": policy}
                some = [row for row in found if of.items() <= row.items()]
                by_flavor = [[row for row in some if row["flavor"] == name] for name in names]
                means = [mean(cells, response) for cells in by_flavor]
                lines.append([f"{network} {response}", policy, *means])
    return plain(lines, "network", "policy", *((name, ".3f") for name in names))


def sources(kept: Kept) -> Sheet:
    """LAN, windows of 65,535 bytes: efficiency / fairness by the number of sources.

    Of the senders that were run with more numbers than one; a dash where no trial was valid.
    """
    found: dict[tuple[str, ...], dict[int, str]] = {}
    for row in kept.cells(BEYOND).rows:
        if row["network"] == "LAN" and row["window"] == "65535":
            text = " / ".join(f"{float(row[response]):.2f}" for response in RESPONSES)
            key = (row["buffer"], row["policy"], row["flavor"])
            found.setdefault(key, {})[int(row["sources"])] = text
    numbers = sorted({number for texts in found.values() for number in texts})
    lines = [
        [*key, *(texts.get(number, "–") for number in numbers)]
        for key, texts in sorted(found.items(), key=lambda item: (int(item[0][0]), item[0][2]))
        if len(texts) > 1
    ]
    return plain(lines, "buffer", "policy", "sender", *map(str, numbers))


def starved(kept: Kept) -> Sheet:
    """Cells with a source of which nothing ever arrived: it counts as 0, or its trial does not."""
    rows = [
        [name, *heads, len(trials), len(trials) - len(without), *_both(trials), *_both(without)]
        for campaign, name in STARVING.items()
        for heads, trials in _by_cell(kept, campaign).items()
        for without in [[one for one in trials if not one.metrics.get("starved_sources")]]
        if len(without) < len(trials)
    ]
    heads = ("campaign", "network", "sources", "buffer", "policy", "change or sender")
    counted = (("trials", "d"), ("of them with a starved source", "d"))
    figures = ("efficiency, its goodput 0", "fairness", "efficiency, trial left out", "fairness")
    return plain(rows, *heads, *counted, *((name, ".2f") for name in figures))


STARVING = {OPEN: "what the paper leaves open", BEYOND: "later senders, more sources"}
"""Campaigns with trials in which a source starves."""


def _by_cell(kept: Kept, campaign: str) -> dict[tuple[str, ...], list[KeptTrial]]:
    found: dict[tuple[str, ...], list[KeptTrial]] = {}
    for trial in kept_trials.read(kept.folder / campaign / kept_trials.FILE):
        levels = trial.levels
        last = levels["assumption" if campaign == OPEN else "flavor"]
        heads = [levels[name] for name in ("network", "sources", "buffer", "policy")]
        found.setdefault((*heads, last), []).append(trial)
    return found


def _both(trials: Sequence[KeptTrial]) -> list[float | None]:
    """Means of both responses; None without a trial that has it."""
    values = [[one.metrics[name] for one in trials if name in one.metrics] for name in RESPONSES]
    return [fmean(some) if some else None for some in values]


TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "rows": rows,
    "first-8s": first_8s,
    "timeouts": timeouts,
    "starved": starved,
    "effects": effects,
    "clock": clock,
    "windows": windows,
    "verdicts": verdicts.verdicts,
    "kinds": verdicts.kinds,
    "claims": verdicts.claims,
    "flavors": flavors,
    "sources": sources,
}


def _lan(kept: Kept, campaign: str) -> list[Row]:
    """The LAN rows of a campaign that lost frames, of five sources."""
    return [
        row
        for row in kept.cells(campaign).rows
        if (row["network"], row["sources"]) == ("LAN", "5") and float(row["lost_frames"]) > 0
    ]


def mean(rows: Sequence[Row], column: str) -> float:
    return fmean(float(row[column]) for row in rows)
