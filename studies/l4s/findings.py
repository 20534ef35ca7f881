# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentences (sentences.toml), from the kept results."""

from __future__ import annotations

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.sentences import Number, Numbers
from analysis.statistics import Estimate, estimate
from plan.atm import CELL_BITS, frame_cells

QUEUES, TARGETS, PHASES = "l4s", "l4s-target", "l4s-phase"
NAMES = {"DualPI2": "dual", "PIE": "pie", "FQ-CoDel": "fq", "drop tail": "tail"}
"""Level of `queue` -> what its numbers' names begin with."""
SHOWN = (
    "efficiency", "rate_ratio", "low_mean_ms", "low_p99_ms", "low_median_ms", "classic_mean_ms",
    "classic_p99_ms", "window_ratio", "round_trip_ratio",
)  # fmt: skip
IP_BYTES = 1488
"""Of a full packet of the study: 1436 bytes of payload, with timestamps."""
ENDS = {"5 ms": "small", "15 ms": "middle", "30 ms": "large"}
"""Level of `target` -> what its numbers' names begin with."""
SHARES = (0.5, 2.0)
"""Between these limits a ratio holds (claims.toml)."""


def by_seed(kept: Kept, campaign: str, metric: str, **levels: str) -> dict[int, float]:
    """A metric of the trials of a cell, of each seed."""
    return kept_trials.by_seed(kept.folder / campaign, metric, **levels)


def over(kept: Kept, campaign: str, metric: str, **levels: str) -> Estimate:
    """Its mean with the interval over the seeds."""
    return estimate(list(by_seed(kept, campaign, metric, **levels).values()))


def less(kept: Kept, metric: str, of: str, minus: str) -> Estimate:
    """A metric at a target less that at another, paired by seed."""
    first, second = (by_seed(kept, TARGETS, metric, target=target) for target in (of, minus))
    return estimate([first[seed] - second[seed] for seed in first if seed in second])


def numbered(name: str, one: Estimate) -> dict[str, Number]:
    """A mean, and half of its interval as NAME_half."""
    return {name: one.mean, f"{name}_half": one.half_width}


def packet_ms(rate_mbit_per_s: int) -> float:
    """The time that a full packet takes on the link."""
    return frame_cells(IP_BYTES) * CELL_BITS / (rate_mbit_per_s * 1000)


def queues(kept: Kept) -> Numbers:
    """Each response of each queue, with two flows."""
    found: dict[str, Number] = {}
    for queue, name in NAMES.items():
        for metric in SHOWN:
            one = over(kept, QUEUES, metric, queue=queue, flows="2")
            found |= numbered(f"{name}_{metric}", one)
    found["median_packets"] = found["dual_low_median_ms"] / packet_ms(40)  # type: ignore[operator]
    manifest = kept.manifest(QUEUES)
    return {**found, "trials": manifest["trials"], "seeds": len(manifest["seeds"])}


def targets(kept: Kept) -> Numbers:
    """The ratios at each target, and from the smallest to the largest, paired by seed."""
    found: dict[str, Number] = {}
    ratios = ("rate_ratio", "window_ratio", "round_trip_ratio", "classic_mean_ms", "low_mean_ms")
    for metric in ratios:
        for target, name in ENDS.items():
            found |= numbered(f"{name}_{metric}", over(kept, TARGETS, metric, target=target))
        found |= numbered(f"change_{metric}", less(kept, metric, "30 ms", "5 ms"))
    found |= numbered("rise_window_ratio", less(kept, "window_ratio", "5 ms", "30 ms"))
    manifest = kept.manifest(TARGETS)
    return {**found, "trials": manifest["trials"], "seeds": len(manifest["seeds"])}


def verdict(one: Estimate, limits: tuple[float, float]) -> str:
    """Of a mean between limits, by its own interval."""
    low, high = one.mean - (one.half_width or 0), one.mean + (one.half_width or 0)
    if limits[0] <= low and high <= limits[1]:
        return "holds"
    return "does not hold" if high < limits[0] or limits[1] < low else "undecided"


def listed(some: list[str]) -> str:
    """One, or several with "and" before the last."""
    return f"{', '.join(some[:-1])} and {some[-1]}" if len(some) > 1 else "".join(some)


def ratios(levels: list[str], some: list[Estimate]) -> Numbers:
    """The ratio of the rates with each length, and the lengths of each verdict."""
    of = [verdict(one, SHARES) for one in some]
    found: dict[str, Number] = {
        "rates_each": listed([f"{one.mean:.2f} ± {one.half_width or 0:.2f}" for one in some]),
        "rates_low": min(one.mean for one in some),
        "rates_high": max(one.mean for one in some),
        "lengths": len(some),
    }
    for name in ("holds", "undecided", "does not hold"):
        chosen = [
            level.removesuffix(" us") for level, one in zip(levels, of, strict=True) if one == name
        ]
        key = name.replace(" ", "_")
        found |= {key: len(chosen), f"{key}_at": listed(chosen)}
    return found


def phases(kept: Kept) -> Numbers:
    """With each length of the path: the delays of DCTCP (means over the seeds, least and largest),
    and the ratio of the rates."""
    levels = [row["longer"] for row in kept.cells(PHASES).rows]
    found: dict[str, Number] = {}
    for metric in ("low_mean_ms", "low_median_ms", "low_p99_ms"):
        some = [over(kept, PHASES, metric, longer=level) for level in levels]
        found[f"{metric}_low"] = min(one.mean for one in some)
        found[f"{metric}_high"] = max(one.mean for one in some)
        found[f"{metric}_half"] = max(one.half_width or 0 for one in some)
        found[f"{metric}_range"] = max(one.mean for one in some) - min(one.mean for one in some)
    found |= ratios(levels, [over(kept, PHASES, "rate_ratio", longer=level) for level in levels])
    shares = [over(kept, PHASES, "window_ratio", longer=level) for level in levels]
    found["windows_hold"] = sum(verdict(one, SHARES) == "holds" for one in shares)
    manifest = kept.manifest(PHASES)
    return {**found, "trials": manifest["trials"], "seeds": len(manifest["seeds"])}
