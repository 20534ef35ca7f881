# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentences (sentences.toml), from the kept results."""

import math
from collections.abc import Mapping

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Number, Numbers
from analysis.statistics import Estimate, estimate
from studies.leo import shares

SINGLE, FACTORS, PATHS_OF_TWO = "leo-single", "leo", "leo-path"
SENDERS = ("CUBIC", "BBR")
PATHS = {"handovers": "none", "1 in 1000": "rare", "1 in 100": "often"}
"""Level of `network` -> what its numbers' names begin with."""
SEGMENT_BYTES, TIMESTAMP_BYTES = 1460, 12
"""Of a full segment: payload, and what the option takes of it (RFC 7323, 3.2, and two NOPs)."""
BySeed = dict[int, float]


def by_seed(kept: Kept, campaign: str, metric: str, **levels: str) -> BySeed:
    """A metric's mean over all trials of these levels, of each seed."""
    return kept_trials.by_seed(kept.folder / campaign, metric, **levels)


def together(first: BySeed, second: BySeed) -> list[tuple[float, float]]:
    """The values of both, paired by seed."""
    return [(first[seed], second[seed]) for seed in first if seed in second]


def above(kept: Kept) -> Numbers:
    """How many trials have an efficiency above 1, and the largest."""
    campaigns = (SINGLE, FACTORS, PATHS_OF_TWO)
    files = [kept.folder / campaign / kept_trials.FILE for campaign in campaigns]
    found = [one.metrics["efficiency"] for file in files for one in kept_trials.read(file)]
    return {"trials": len(found), "above": sum(x > 1 for x in found), "most": max(found)}


def over_seeds(found: BySeed) -> Estimate:
    """The mean with its interval."""
    return estimate(list(found.values()))


def numbered(found: Mapping[str, Estimate]) -> dict[str, Number]:
    """Each mean by its name, and half of its interval as NAME_half."""
    means: dict[str, Number] = {name: one.mean for name, one in found.items()}
    return means | {f"{name}_half": one.half_width for name, one in found.items()}


def single(kept: Kept) -> Numbers:
    """Of each path of one flow: throughputs, their ratio, and segments that were sent again."""
    found: dict[str, Estimate] = {}
    ratios: dict[str, Number] = {}
    for path, name in PATHS.items():
        cubic, bbr = (
            by_seed(kept, SINGLE, "throughput_mbit_per_s", network=path, sender=sender)
            for sender in SENDERS
        )
        logarithms = [math.log(second / first) for first, second in together(cubic, bbr)]
        ratios |= ratio_of(f"{name}_ratio", estimate(logarithms))
        less = [second - first for first, second in together(cubic, bbr)]
        found |= {
            f"{name}_less": estimate(less),
            f"{name}_cubic": over_seeds(cubic),
            f"{name}_bbr": over_seeds(bbr),
        }
    return {**numbered(found), **ratios, **counted(kept, SINGLE)}


def ratio_of(name: str, logarithm: Estimate) -> dict[str, Number]:
    """A geometric mean, and both ends of its interval as NAME_low and NAME_high."""
    half = logarithm.half_width or 0.0
    ends = {"": 0.0, "_low": -half, "_high": half}
    return {f"{name}{end}": math.exp(logarithm.mean + by) for end, by in ends.items()}


def one_path(kept: Kept) -> Numbers:
    """On the path without random losses: segments sent again, and the path's use after a handover
    less that before the next.
    """
    metrics = {"again": "retransmits", "use": "use_after_handover"}
    return numbered(
        {
            f"{sender.lower()}_{name}": over_seeds(
                by_seed(kept, SINGLE, metric, network="handovers", sender=sender)
            )
            for sender in SENDERS
            for name, metric in metrics.items()
        }
    )


def flows(kept: Kept) -> Numbers:
    """BBR's efficiency less CUBIC's where one packet in 100 is lost, with one flow and with two."""
    found: dict[str, Estimate] = {}
    for number, name in (("1", "one"), ("2", "two")):
        cubic, bbr = (
            by_seed(
                kept, PATHS_OF_TWO, "efficiency", network="1 in 100", flows=number, sender=sender
            )
            for sender in SENDERS
        )
        found[name] = estimate([second - first for first, second in together(cubic, bbr)])
    return {**numbered(found), **counted(kept, PATHS_OF_TWO)}


def slower(kept: Kept) -> Numbers:
    """On the slower path without random losses: BBR's efficiency less CUBIC's, one flow and two."""
    return numbered(
        {
            name: estimate([second - first for first, second in together(*both)])
            for number, name in (("1", "one"), ("2", "two"))
            for both in [
                [
                    by_seed(
                        kept, PATHS_OF_TWO, "efficiency",
                        network="handovers", flows=number, sender=sender,
                    )
                    for sender in SENDERS
                ]
            ]
        }
    )  # fmt: skip


def factors(kept: Kept) -> Numbers:
    """What the larger buffer brings each sender's efficiency, over both policies."""
    found: dict[str, Estimate] = {}
    for sender in ("Reno", "SACK", "CUBIC", "BBR"):
        small, large = (
            by_seed(kept, FACTORS, "efficiency", buffer=buffer, sender=sender)
            for buffer in ("0.5", "2")
        )
        found[sender.lower()] = estimate([more - less for less, more in together(small, large)])
        found[f"{sender.lower()}_large"] = over_seeds(large)
    return {
        **numbered(found),
        "limit": SEGMENT_BYTES / (SEGMENT_BYTES + TIMESTAMP_BYTES),
        **counted(kept, FACTORS),
        **shares.all_trials(kept),
    }


def least_fair(kept: Kept) -> Numbers:
    """The least fair cell, the next one, and what shares the factors have of the fairness."""
    worst, second, *_ = sorted(kept.cells(FACTORS).rows, key=lambda row: float(row["fairness"]))
    levels = {name: worst[name] for name in ("sender", "policy", "buffer")}
    seeds = by_seed(kept, FACTORS, "fairness", **levels).values()
    return {
        "place": "{sender}, {policy}, {buffer}".format(**levels),
        "least_seed": min(seeds),
        "most_seed": max(seeds),
        "least": float(worst["fairness"]),
        "next": float(second["fairness"]),
        "policy_limit": shares.LIMIT,
        **shares.all_trials(kept),
        **shares.without_bbr(kept),
    }


def counted(kept: Kept, campaign: str) -> dict[str, Number]:
    """How many trials and seeds are kept."""
    manifest = kept.manifest(campaign)
    return {"trials": manifest["trials"], "seeds": len(manifest["seeds"])}
