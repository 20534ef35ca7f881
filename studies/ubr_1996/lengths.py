# SPDX-License-Identifier: GPL-2.0-only
"""LAN: sources that start together, on one clock of the timeouts, by how long we measured."""

import math
from collections.abc import Mapping, Sequence

from analysis import kept_trials
from analysis.kept import Kept
from analysis.kept_trials import KeptTrial
from analysis.report.model import Sheet, Value, plain
from analysis.report.sentences import Numbers
from analysis.statistics import Estimate, estimate
from studies.ubr_1996.readme import CLOCK, RESPONSES
from studies.ubr_1996.study import goodputs, results

LENGTH = "ubr-persistent-length"
ROW = ("LAN", "plain", "500", "65535")
SECONDS = "5"
"""How long `ubr-persistent-clock` measures."""
NEAR = 0.1
"""A trial that is so near to the paper's row in both responses is counted."""
Place = tuple[str, int]
"""The least timeout, and the length of the measurement [s]."""
DEAD: Place = ("1 s", 1)
"""Almost nothing arrives here."""


def table(kept: Kept) -> Sheet:
    """Both responses with their 95 % intervals, and the slowest and the fastest source."""
    rows: list[list[Value]] = []
    for (minimum, seconds), trials in measured(kept).items():
        found = _responses(trials)
        both = [x for one in found.values() for x in (one.mean, one.half_width)]
        rates = [_mean(trials, f"{end}_bit_per_s") / 1e6 for end in ("least", "largest")]
        rows.append([minimum, seconds, len(trials), *both, *rates])
    theirs = sorted(goodputs()[ROW])
    paper: list[Value] = ["paper", None, None]
    for name in RESPONSES:
        paper += [results()[ROW][name], None]
    rows.append([*paper, theirs[0], theirs[-1]])
    figures = [(f"{name}{of}", ".2f") for name in RESPONSES for of in ("", ", ±")]
    sources = [(f"{end} source (Mbit/s)", ".1f") for end in ("slowest", "fastest")]
    return plain(rows, "minimum", ("seconds", "d"), ("seeds", "d"), *figures, *sources)


def numbers(kept: Kept) -> Numbers:
    """In how many combinations one seed could give the paper's figures, and the nearest means."""
    found = {place: _responses(trials) for place, trials in measured(kept).items()}
    could = [place for place, of in found.items() if all(map(_could, of, of.values()))]
    away = {
        place: {name: one.mean - results()[ROW][name] for name, one in of.items()}
        for place, of in found.items()
    }
    nearest = min(away, key=lambda place: math.hypot(*away[place].values()))
    sure = [p for p, of in found.items() if not all(map(_mean_could_be, of, of.values()))]
    minimum, seconds = nearest
    trials = [one for some in measured(kept).values() for one in some]
    return {
        "trials": len(trials),
        "different": sum(len(set(map(_outcome, some))) for some in measured(kept).values()),
        "near": sum(map(_near, trials)),
        "near_by": NEAR,
        "combinations": len(found),
        "could": len(could),
        "which": ", ".join(f"{seconds} s (minimum {minimum})" for minimum, seconds in could),
        "mean_differs": len(sure),
        "seeds": min(map(len, measured(kept).values())),
        "seeds_range": from_to([*map(len, measured(kept).values())]),
        "nearest": f"{seconds} s with a minimum of {minimum}",
        **{f"nearest_{name}": found[nearest][name].mean for name in RESPONSES},
        **results()[ROW],
        **{f"dead_{name}": found[DEAD][name].mean for name in RESPONSES},
    }


def measured(kept: Kept) -> Mapping[Place, Sequence[KeptTrial]]:
    """The trials on the common clock, by minimum and length."""
    found: dict[Place, list[KeptTrial]] = {}
    for campaign in (CLOCK, LENGTH):
        for one in kept_trials.read(kept.folder / campaign / kept_trials.FILE):
            if one.levels.get("clock", "common") == "common":
                seconds = int(one.levels.get("seconds", SECONDS))
                found.setdefault((one.levels["minimum"], seconds), []).append(one)
    order = sorted(found, key=lambda place: (place[0] != "2 ticks", place[1]))
    return {place: found[place] for place in order}


def from_to(counts: Sequence[int]) -> str:
    """As "10", or as "10 to 11"."""
    return " to ".join(dict.fromkeys(map(str, (min(counts), max(counts)))))


def _responses(trials: Sequence[KeptTrial]) -> dict[str, Estimate]:
    return {name: estimate([one.metrics[name] for one in trials]) for name in RESPONSES}


def _mean(trials: Sequence[KeptTrial], name: str) -> float:
    return estimate([one.metrics[name] for one in trials]).mean


def _could(name: str, one: Estimate) -> bool:
    """Whether the paper's figure is in the 95 % prediction interval of one seed."""
    half = (one.half_width or math.inf) * math.sqrt(one.n + 1)
    return abs(one.mean - results()[ROW][name]) <= half


def _outcome(one: KeptTrial) -> tuple[float, ...]:
    """Both responses of a trial."""
    return tuple(one.metrics[name] for name in RESPONSES)


def _near(one: KeptTrial) -> bool:
    """Whether both responses of a trial are within NEAR of the paper's."""
    return all(abs(one.metrics[name] - results()[ROW][name]) <= NEAR for name in RESPONSES)


def _mean_could_be(name: str, one: Estimate) -> bool:
    """Whether the paper's figure is in the 95 % interval of the mean."""
    return abs(one.mean - results()[ROW][name]) <= (one.half_width or math.inf)
