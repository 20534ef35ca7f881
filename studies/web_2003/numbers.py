# SPDX-License-Identifier: GPL-2.0-only
"""The numbers in its README's sentences (sentences.toml), from the kept results.

A change is the mean over the seeds of the logarithm of a ratio (changes.py).
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis import kept_trials
from analysis.contrasts import BySeed, Contrast, contrast, differences
from analysis.kept import Kept
from analysis.report.model import listed
from analysis.report.sentences import Numbers, Source
from analysis.statistics import estimate
from studies.web_2003 import altered, readings, signs, steps, traces, ways, when
from studies.web_2003.abstract import SLIDES, WHOLE, abstract
from studies.web_2003.changes import how, percent, sure, told
from studies.web_2003.ns2 import long_numbers
from studies.web_2003.ns2.tables import CAMPAIGN, FIGURES, Pair, clocks

FIRST, RED, TODAY, LINK = "web-first", "web-red", "web-today", "web-plain"
TAIL = "drop-tail"
LOADS = ("80", "98")
SHARE = "resent_share"


def red(kept: Kept) -> Numbers:
    """The gentle RED beside Linux's own: how many figures are lower, and two of them."""
    pairs = [
        _change(kept, RED, figure, {**place, "red": "gentle"}, {**place, "red": "drops all"})
        for place in _levels(kept, RED, "load", "queue")
        for figure in ("median_ms", "p90_ms", SHARE)
    ]
    ecn = {"queue": "ARED+ECN"}
    gentle = {load: {**ecn, "load": load, "red": "gentle"} for load in ("80", "105")}
    marks = {load: {**of, "red": "gentle marks"} for load, of in gentle.items()}
    return {
        "figures": len(pairs),
        "lower": sum(one.difference < 0 for one in pairs),
        "lower_sure": sum(one.difference + (one.half_width or math.inf) < 0 for one in pairs),
        **_seeds(kept, RED),
        "ecn_80": told(
            _change(kept, RED, "p90_ms", gentle["80"], {**gentle["80"], "red": "drops all"})
        ),
        **{
            f"marks_{load}": told(_change(kept, RED, "p90_ms", marks[load], gentle[load]))
            for load in gentle
        },
        "highest_threshold": int(_threshold_is_shortest(kept)),
    }


def today(kept: Kept) -> Numbers:
    """What queues and senders of today change in the 90th percentile, at both loads."""
    found: dict[str, float | int | str] = {**_seeds(kept, TODAY)}
    for name, (after, before) in COMPARED.items():
        for load in LOADS:
            one = _change(kept, TODAY, "p90_ms", _at(load, after), _at(load, before))
            found[f"{name}_{load}"] = told(one)
            found[f"{name}_{load}_value"] = math.expm1(one.difference)
    for load in LOADS:
        fair = [found[f"{name}_{load}_value"] for name in ("fq_codel", "fq_pie", "cake")]
        numbers = [x for x in fair if not isinstance(x, str)]
        found[f"fair_{load}_least"], found[f"fair_{load}_most"] = min(numbers), max(numbers)
        codel = _change(kept, TODAY, "median_ms", _at(load, CODEL), _at(load, DROP_TAIL))
        found[f"codel_median_{load}"] = told(codel)
        found[f"worst_{load}_is_ared"] = int(_worst(kept, load).startswith("ARED"))
    return found


def first(kept: Kept) -> Numbers:
    """What a first timeout of 3 s changes in the 90th percentile."""
    found: dict[str, float | int | str] = {**_seeds(kept, FIRST)}
    for name, queue in (("tail", "drop-tail"), ("linux", "ARED"), ("ns_2", "ARED as in ns-2")):
        changes = {load: _first_change(kept, load, queue) for load in ("80", "105")}
        found[name], found[f"{name}_105"] = map(told, changes.values())
        found[f"{name}_value"] = math.expm1(changes["80"].difference)
    return found


def _first_change(kept: Kept, load: str, queue: str) -> Contrast:
    place = {"load": load, "queue": queue}
    both = ({**place, "first_timeout": level} for level in ("3 s", "of the handshake"))
    return _change(kept, FIRST, "p90_ms", *both)


def link(kept: Kept) -> Numbers:
    """What Ethernet frames in place of ATM cells change in the median and the 90th percentile.

    Both links offer the same load in their own bytes.
    """
    found: dict[str, float | int | str] = {}
    changes: list[Contrast] = []
    for name, queue in (("tail", "drop-tail"), ("ns_2", "ARED as in ns-2")):
        place = {"load": "80", "sender": "SACK", "queue": queue}
        both = [{**place, "topology.link_layer": layer} for layer in ("ethernet", "atm")]
        for figure in ("median", "p90"):
            changes.append(_change(kept, LINK, f"{figure}_ms", *both))
            found[f"{name}_{figure}"] = told(changes[-1])
    return {
        **found,
        "how": how(min(len(one.draws) for one in changes)),
        "figures": len(changes),
        "sure": sum(map(sure, changes)),
    }


def large(kept: Kept) -> Numbers:
    """What SACK in place of Reno changes at 80 %: the median above 50 kB."""
    found: dict[str, float | int | str] = {}
    changes: list[Contrast] = []
    for name, queue in (("tail", "drop-tail"), ("linux", "ARED"), ("ns_2", "ARED as in ns-2")):
        both = [{"load": "80", "sender": sender, "queue": queue} for sender in ("SACK", "Reno")]
        changes.append(_change(kept, WHOLE, "large_median_ms", *both))
        found[name] = told(changes[-1])
    return {
        **found,
        **_seeds(kept, WHOLE, SLIDES),
        "figures": len(changes),
        "sure": sum(map(sure, changes)),
    }


def length(kept: Kept) -> Numbers:
    """SACK in trials as long as the source's, beside short trials of the same seeds: medians."""
    found: dict[str, float | int | str] = {}
    for load in SLIDES:
        ratios = {queue: _ratios(kept, load, queue) for queue in _queues(kept, load)}
        means = [math.exp(fmean(of_seeds.values())) for of_seeds in ratios.values()]
        single = [math.exp(ratio) for of_seeds in ratios.values() for ratio in of_seeds.values()]
        found |= {f"least_{load}": min(means), f"most_{load}": max(means)}
        found |= {f"least_seed_{load}": min(single), f"most_seed_{load}": max(single)}
        found |= {f"away_{load}": 100 * max(abs(x - 1) for x in means)}
        found |= {f"seeds_{load}": min(len(of_seeds) for of_seeds in ratios.values())}
    return found


def _queues(kept: Kept, load: str) -> list[str]:
    rows = kept.cells(WHOLE).rows
    return [row["queue"] for row in rows if (row["load"], row["sender"]) == (load, "SACK")]


def _ratios(kept: Kept, load: str, queue: str) -> BySeed:
    """The logarithm of long over short, by the seeds that both have."""
    place = {"load": load, "sender": "SACK", "queue": queue}
    short, long = (_by_seed(kept, one, "median_ms", place) for one in (CAMPAIGN, WHOLE))
    return {seed: long[seed] - short[seed] for seed in sorted(short.keys() & long.keys())}


def tails(kept: Kept) -> Numbers:
    """SACK in long trials: what ECN and Adaptive RED change beside the slides' figures.

    ecn_infinite: the trials of which the 99th percentile has no ratio, with ECN or without.
    """
    high = SLIDES[-1]
    short = _of_sack(kept, "p25_ms", high, ("ARED", TAIL), CAMPAIGN)
    return {
        **_answers(kept, high),
        **_ecn(kept, high),
        "source_linux": told(_of_sack(kept, "source_p99_ms", high, ("ARED", TAIL))),
        "source_ns_2": told(_of_sack(kept, "source_p99_ms", high, ("ARED as in ns-2", TAIL))),
        "p25_short": told(short),
        "seeds_short": len(short.draws),
        "p25_long": told(_of_sack(kept, "p25_ms", high, ("ARED", TAIL))),
        **_seeds(kept, WHOLE, SLIDES),
    }


def _ecn(kept: Kept, load: str) -> Numbers:
    """What ECN changes with Linux's Adaptive RED, and how many of two intervals exclude 0."""
    queues = ("ARED+ECN", "ARED")
    median, p99 = (_of_sack(kept, figure, load, queues) for figure in ("median_ms", "p99_ms"))
    return {
        "ecn_median": told(median),
        "ecn_p99": told(p99),
        "ecn_infinite": sum(_infinite(kept, load, queue, "p99_ms") for queue in queues),
        "ecn_lost": told(_of_sack(kept, "unfinished_share", load, queues)),
        **{
            f"bytes_{one}": told(_of_sack(kept, "resent_bytes_share", one, queues))
            for one in SLIDES
        },
        "source_ecn": told(_of_sack(kept, "source_p99_ms", load, queues)),
        "ecn_seeds": len(p99.draws),
        "ecn_longer": sum(draw > 0 for draw in p99.draws),
    }


def _infinite(kept: Kept, load: str, queue: str, figure: str) -> int:
    """How many of SACK's long trials with a queue have no finite figure."""
    place = {"load": load, "sender": "SACK", "queue": queue}
    rows = kept.table(WHOLE, "trials").rows
    return sum(not row[figure] for row in rows if place.items() <= row.items())


def _answers(kept: Kept, load: str) -> Numbers:
    """Exchanges without a response by seed, and in how many seeds Adaptive RED leaves fewer.

    A seed without a trial of each queue does not count there.
    """
    lost = {queue: _lost(kept, load, queue) for queue in _queues(kept, load)}
    whole = sorted(set.intersection(*(set(some) for some in lost.values())))
    tail = lost.pop(TAIL)
    place = {"load": load, "sender": "SACK", "queue": TAIL}
    medians = [math.exp(one) for one in _by_seed(kept, WHOLE, "median_ms", place).values()]
    return {
        "lost_tail": listed(f"{100 * share:.2g} %" for share in tail.values()),
        "fewer": sum(all(red[seed] < tail[seed] for red in lost.values()) for seed in whole),
        "more": sum(all(red[seed] > tail[seed] for red in lost.values()) for seed in whole),
        "of": len(whole),
        "least_ms": min(medians),
        "most_ms": max(medians),
    }


def _of_sack(
    kept: Kept, figure: str, load: str, queues: tuple[str, str], campaign: str = WHOLE
) -> Contrast:
    """SACK's change of a figure with the first queue in place of the second."""
    both = [{"load": load, "sender": "SACK", "queue": queue} for queue in queues]
    return _change(kept, campaign, figure, *both)


def _lost(kept: Kept, load: str, queue: str) -> dict[int, float]:
    """The share of exchanges without a response, by the seed; of SACK in long trials."""
    place = {"load": load, "sender": "SACK", "queue": queue}
    return {
        int(row["seed"]): float(row["unfinished_share"])
        for row in sorted(kept.table(WHOLE, "trials").rows, key=lambda row: int(row["seed"]))
        if place.items() <= row.items()
    }


def rules(kept: Kept) -> Numbers:
    """SACK at 105 % in the kernel: ns-2's Adaptive RED in place of Linux's, by length; medians."""
    found: dict[str, float | int | str] = {}
    place = {"load": SLIDES[-1], "sender": "SACK"}
    for length, campaign in (("short", CAMPAIGN), ("long", WHOLE)):
        for name, queue in (("ared", "ARED"), ("ecn", "ARED+ECN")):
            both = ({**place, "queue": one} for one in (f"{queue} as in ns-2", queue))
            one = _change(kept, campaign, "median_ms", *both)
            found[f"{name}_{length}"] = told(one)
            found |= {f"{name}_{length}_value": one.difference}
            found |= {f"{name}_{length}_sure": int(sure(one))}
            found[f"seeds_{length}"] = len(one.draws)
            if (name, length) == ("ecn", "long"):
                found["each"] = listed(percent(draw) for draw in one.draws)
                found["first_sure"] = _first_three(one)
    p25 = ({**place, "queue": queue} for queue in ("ARED as in ns-2", TAIL))
    return found | {"p25_rule": told(_change(kept, WHOLE, "p25_ms", *p25))}


def _first_three(change: Contrast) -> int:
    """Does the interval of a change exclude 0 with the first three seeds alone?"""
    first = estimate(change.draws[:3])
    return int(first.half_width is not None and abs(first.mean) > first.half_width)


def again(kept: Kept) -> Numbers:
    """Trials that two campaigns have: how many have the same figures, and the largest change [%].

    Trials of a cell and a seed that differ ran with another code, or at another place in a lab.
    """
    trials = {
        campaign: kept_trials.read(kept.folder / campaign / kept_trials.FILE) for campaign in OWN
    }
    first = {one.key: one for one in trials[CAMPAIGN]}
    both = [
        (one, other)
        for campaign, (factor, level) in OWN.items()
        for one in trials[campaign]
        if factor and one.levels[factor] == level
        for other in [first.get((frozenset(one.levels.items() - {(factor, level)}), one.seed))]
        if other is not None
    ]
    changes = [abs(other.metrics["p90_ms"] / one.metrics["p90_ms"] - 1) for one, other in both]
    same = [
        all(one.metrics[name] == other.metrics[name] for name in FIGURES) for one, other in both
    ]
    return {"trials": len(both), "same": sum(same), "most": 100 * max(changes)}


OWN: Mapping[str, tuple[str, str]] = {
    CAMPAIGN: ("", ""),
    FIRST: ("first_timeout", "of the handshake"),
    RED: ("red", "gentle"),
    "web-ticks": ("tick", "100 ms"),
    LINK: ("topology.link_layer", "atm"),
}
"""Campaigns, and the level of their own factor with which they repeat trials of the first."""


def clock(kept: Kept) -> Numbers:
    """How far ns-2 is from the kernel with both clocks of the timeouts, drop tail at 105 % [%]."""
    coarse, fine = clocks(kept).values()
    both = [_distances(some, "p75_ms") for some in (coarse, fine)]
    change = estimate([both[1][seed] - both[0][seed] for seed in both[0]])
    means = {
        name: [_mean_of(_distances(some, name)) for some in (coarse, fine)] for name in FIGURES
    }
    return {
        "coarse": _mean_of(both[0]),
        "fine": _mean_of(both[1]),
        "change": change.mean,
        "size": abs(change.mean),
        "half": change.half_width,
        "seeds": change.n,
        "figures": len(means),
        "worse": sum(after > before for before, after in means.values()),
    }


def _distances(pairs: Sequence[Pair], figure: str) -> Mapping[str, float]:
    """Seed -> the mean distance of ns-2's figure from the kernel's, over the senders [%]."""
    found: dict[str, list[float]] = {}
    for pair in pairs:
        if (ratio := pair.ratio(figure)) is not None:
            found.setdefault(pair.kernel["seed"], []).append(100 * abs(ratio - 1))
    return {seed: fmean(some) for seed, some in found.items()}


def _mean_of(by_seed: Mapping[str, float]) -> float:
    return fmean(by_seed.values())


CUBIC, PLAIN, WINDOW, BBR = "CUBIC", "CUBIC without RACK", "CUBIC window 2", "BBR"
DROP_TAIL, CODEL = (CUBIC, "drop-tail"), (CUBIC, "CoDel")
FQ = (CUBIC, "FQ-CoDel")
COMPARED: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "fq_codel": (FQ, DROP_TAIL),
    "fq_pie": ((CUBIC, "FQ-PIE"), DROP_TAIL),
    "cake": ((CUBIC, "CAKE"), DROP_TAIL),
    "codel": (CODEL, DROP_TAIL),
    "ecn_fq": ((CUBIC, "FQ-CoDel+ECN"), FQ),
    "ecn_codel": ((CUBIC, "CoDel+ECN"), CODEL),
    "rack_fq": (FQ, (PLAIN, "FQ-CoDel")),
    "window_fq": (FQ, (WINDOW, "FQ-CoDel")),
    "bbr_fq": ((BBR, "FQ-CoDel"), FQ),
    "rack_tail": (DROP_TAIL, (PLAIN, "drop-tail")),
    "window_tail": (DROP_TAIL, (WINDOW, "drop-tail")),
    "bbr_tail": ((BBR, "drop-tail"), DROP_TAIL),
}
"""Sender and queue, and what they are compared with."""


def _at(load: str, both: tuple[str, str]) -> Mapping[str, str]:
    sender, queue = both
    return {"load": load, "sender": sender, "queue": queue}


def _worst(kept: Kept, load: str) -> str:
    """CUBIC's queue with the longest 90th percentile."""
    rows = [row for row in kept.cells(TODAY).rows if row["load"] == load]
    rows = [row for row in rows if row["sender"] == CUBIC]
    return max(rows, key=lambda row: float(row["p90_ms"]))["queue"]


def _threshold_is_shortest(kept: Kept) -> bool:
    """Has the threshold that is three times as high the shortest 90th percentile everywhere?"""
    rows = kept.cells(RED).rows
    return all(
        min(some, key=lambda row: float(row["p90_ms"]))["red"] == "threshold x 3"
        for place in _levels(kept, RED, "load", "queue")
        for some in [[row for row in rows if place.items() <= row.items()]]
    )


def _levels(kept: Kept, campaign: str, *factors: str) -> Sequence[Mapping[str, str]]:
    found = {tuple(row[name] for name in factors): None for row in kept.cells(campaign).rows}
    return [dict(zip(factors, levels, strict=True)) for levels in found]


def _change(
    kept: Kept, campaign: str, figure: str, of: Mapping[str, str], to: Mapping[str, str]
) -> Contrast:
    """The logarithm of a ratio, paired by seed; seeds without a finite figure are left out."""
    both = (_by_seed(kept, campaign, figure, levels) for levels in (of, to))
    return contrast(differences(*([values] for values in both)))


def _by_seed(kept: Kept, campaign: str, figure: str, levels: Mapping[str, str]) -> BySeed:
    trials = kept_trials.read(kept.folder / campaign / kept_trials.FILE)
    return {
        one.seed: math.log(one.metrics[figure])
        for one in trials
        if levels.items() <= one.levels.items() and one.metrics.get(figure)
    }


def _seeds(kept: Kept, campaign: str, loads: Sequence[str] = ()) -> dict[str, int | str]:
    """How many seeds the changes rest on (at some loads), and what that says of their intervals."""
    rows = [row for row in kept.cells(campaign).rows if not loads or row["load"] in loads]
    seeds = min(int(row["seeds"]) for row in rows)
    return {"seeds": seeds, "how": how(seeds)}


def _of_the_abstract(kept: Kept) -> Numbers:
    """Counts, and the sentences by their verdicts."""
    return {**abstract(kept), **readings.numbers(kept)}


NUMBERS: Mapping[str, Source] = {
    "abstract": _of_the_abstract,
    "again": again,
    "altered": altered.numbers,
    "clock": clock,
    "first": first,
    "large": large,
    "length": length,
    "link": link,
    "long_ns_2": long_numbers.numbers,
    "red": red,
    "rules": rules,
    "signs": signs.numbers,
    "steps": steps.numbers,
    "tails": tails,
    "today": today,
    "traces": traces.numbers,
    "ways": ways.numbers,
    "when": when.numbers,
}
