# SPDX-License-Identifier: GPL-2.0-only
"""What the gallery says of clients with two links (tests/gallery.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from analysis.records import Trial
from analysis.statistics import estimate

# Metric of a trial -> its column, if the trials have it.
COLUMNS = {
    "goodput_mbit_per_s": "goodput (Mbit/s)",
    "single_mbit_per_s": "goodput of the client with one link (Mbit/s)",
    "subflows": "subflows at the end",
    "pause_ms": "longest pause after leaving link1 (ms)",
}
BOTH = "both"
FACTOR = "topology.links_used"
NAMES = {FACTOR: "links in use", "tcp.flavor": "sender"}
Values = dict[str, dict[int, Trial]]  # level -> seed -> trial


def figures(trials: Sequence[Trial]) -> str:
    """A table of the levels, and what MPTCP gains or takes, over the seeds."""
    found: Values = {}
    for trial in trials:
        found.setdefault(" ".join(trial.factors.values()), {})[trial.seed] = trial
    names = [name for name in COLUMNS if trials[0].metrics[name] is not None]
    seeds = [trial.seed for trial in next(iter(found.values())).values()]
    return (
        f"{table(found, names, NAMES[next(iter(trials[0].factors))])}\n"
        f"The table has means over seeds {seeds[0]} to {seeds[-1]}. The number after ± is half of a"
        f" 95 % interval. {said(names)(found)} All checks of each trial passed. The pictures show"
        f" seed {seeds[0]}."
    )


def table(found: Values, names: Sequence[str], first: str) -> str:
    """A row for each level: each metric, and the number of checks."""
    head = f"| {first} | {' | '.join(COLUMNS[name] for name in names)} | checks |\n"
    rows = (
        f"| `{level}` | {' | '.join(over_seeds([value(t, n) for t in of.values()]) for n in names)}"
        f" | {checks(of)} |\n"
        for level, of in found.items()
    )
    return f"{head}| --- |{' --- |' * len(names)} --- |\n{''.join(rows)}"


def said(names: Sequence[str]) -> Callable[[Values], str]:
    """What is said of trials with these metrics."""
    if "pause_ms" in names:
        return paused
    return shared if "single_mbit_per_s" in names else gained


def gained(found: Values) -> str:
    """What MPTCP gets of both links together, and against the better link."""
    both, *others = (goodputs(of) for of in found.values())
    of_sum = [both[seed] / sum(one[seed] for one in others) for seed in both]
    better = max(others, key=lambda one: fmean(one.values()))
    of_better = [both[seed] / better[seed] for seed in both]
    return (
        "In each seed, we divided the goodput of MPTCP by the sum of both goodputs of TCP:"
        f" {over_seeds(of_sum)}. Divided by the goodput of TCP over the better link, it is"
        f" {over_seeds(of_better)}."
    )


def shared(found: Values) -> str:
    """How many times the goodput of the client with one link the other client has."""
    told = []
    for level, of in found.items():
        own = goodputs(of)
        ratios = [own[seed] / value(trial, "single_mbit_per_s") for seed, trial in of.items()]
        protocol = "MPTCP over both links" if level == BOTH else f"TCP over {level}"
        told.append(
            f"With {protocol}, the client had {over_seeds(ratios)} times the goodput of the client"
            " with one link."
        )
    alone = [str(seed) for seed, trial in found[BOTH].items() if value(trial, "subflows") < 2]
    if alone:
        told.append(
            f"In seed{'s' * (len(alone) > 1)} {' and '.join(alone)}, the second subflow of the"
            " client did not last."
        )
    return " ".join(told)


def paused(found: Values) -> str:
    """The longest of all pauses."""
    longest = {
        level: max(value(trial, "pause_ms") for trial in of.values()) for level, of in found.items()
    }
    told = " and ".join(f"{pause:.0f} ms with `{level}`" for level, pause in longest.items())
    return f"The longest pause of all seeds was {told}."


def goodputs(of: Mapping[int, Trial]) -> dict[int, float]:
    """Seed -> the goodput of the client with two links."""
    return {seed: value(trial, "goodput_mbit_per_s") for seed, trial in of.items()}


def checks(of: Mapping[int, Trial]) -> int:
    """How many checks each trial of a level has."""
    [count] = {len(trial.checks) for trial in of.values()}
    return count


def value(trial: Trial, name: str) -> float:
    found = trial.metrics[name]
    assert found is not None, (trial.name, name)
    return found


def over_seeds(values: Sequence[float]) -> str:
    """Mean and interval."""
    if len({*values}) == 1:
        return f"{values[0]:.3f}"
    found = estimate(list(values))
    assert found.half_width is not None
    return f"{found.mean:.3f} ± {found.half_width:.3f}"
