# SPDX-License-Identifier: GPL-2.0-only
"""Two flavors on one link, and losses of the path: tables and sentences of its README."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis import kept_trials
from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Number, Numbers
from analysis.statistics import Estimate, estimate
from studies.kernel_cc.changes import changed
from studies.kernel_cc.findings import (
    BBR,
    KERNELS,
    LOSSES,
    SHARED,
    largest_of,
    surely_changed,
    tested,
    verdict,
)

Place = tuple[str, ...]
"""The levels of a figure's factors."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a campaign on each kernel.

    campaign: its name; factors: those that tell its cells of one kernel apart; response: the name
    of the figure; title, form: in the tables.
    """

    campaign: str
    factors: Sequence[str]
    response: str
    title: str
    form: str


_ON_ONE_LINK = ("flavor", "queue", "flows")
SHARE = Figure(
    campaign=SHARED, factors=_ON_ONE_LINK, response="late_share", title="late share", form=".3f"
)
DELAY = Figure(
    campaign=SHARED, factors=_ON_ONE_LINK, response="queue_delay_ms", title="queue (ms)", form=".1f"
)
USE = Figure(
    campaign=LOSSES,
    factors=("flavor", "rtt", "loss"),
    response="efficiency",
    title="efficiency",
    form=".3f",
)


def shared(kept: Kept) -> Sheet:
    """What part of the link the late comer has, and the queue's delay, on each kernel."""
    shares, delays = means(kept, SHARE), means(kept, DELAY)
    lines: list[list[Value]] = [
        [*flavors.split("+"), *rest, *values, *delays[flavors, *rest]]
        for (flavors, *rest), values in shares.items()
    ]
    heads = [f"{figure.title} {kernel}" for figure in (SHARE, DELAY) for kernel in KERNELS]
    return plain(lines, "first", "late", "queue", "flows", *heads)


def losses(kept: Kept) -> Sheet:
    """Efficiency where the path loses packets, on each kernel."""
    found = by_kernel(kept, USE)
    whole = max(len(values) for on in found.values() for values in on.values())
    lines: list[list[Value]] = [
        [f"{rtt} ms", loss, flavor, *(_marked(on[kernel], whole) for kernel in KERNELS)]
        for (flavor, rtt, loss), on in found.items()
    ]
    return plain(lines, "round trip", "lost", "flavor", *KERNELS)


def _marked(values: Mapping[int, float], whole: int) -> str | None:
    """A mean as in the table, marked where it has fewer seeds than a whole cell."""
    shown = _mean(list(values.values()), USE)
    return shown if shown is None or len(values) == whole else f"{shown} (n = {len(values)})"


def means(kept: Kept, figure: Figure) -> dict[Place, list[str | None]]:
    """Levels -> the mean on each kernel with half of its interval; None where it was not run."""
    return {
        levels: [_mean(list(on[kernel].values()), figure) for kernel in KERNELS]
        for levels, on in by_kernel(kept, figure).items()
    }


def _mean(values: Sequence[float], figure: Figure) -> str | None:
    if not values:
        return None
    mean = estimate(values)
    shown = format(mean.mean, figure.form)
    return shown if mean.half_width is None else f"{shown} ± {mean.half_width:{figure.form}}"


def by_kernel(kept: Kept, figure: Figure) -> dict[Place, dict[str, dict[int, float]]]:
    """Levels -> kernel -> seed -> the figure, from the kept trials."""
    found: dict[Place, dict[str, dict[int, float]]] = {}
    for trial in kept_trials.read(kept.folder / figure.campaign / kept_trials.FILE):
        if (value := trial.metrics.get(figure.response)) is not None:
            place = tuple(trial.levels[name] for name in figure.factors)
            on = found.setdefault(place, {kernel: {} for kernel in KERNELS})
            on[trial.levels["kernel"]][trial.seed] = value
    return found


def losses_changes(kept: Kept) -> Numbers:
    """Of the efficiency with losses: how many changes are tested, how many sure, the largest."""
    several = tested(changed(kept, USE.campaign, USE.factors, USE.response))
    sure, largest = surely_changed(several), largest_of(several)
    return {
        "seeds": seeds_of(kept, LOSSES),
        "tests": len(several),
        "sure": len(sure),
        "largest": _largest(largest, several[largest]),
        "verdict": verdict(largest in sure),
    }


def _largest(place: Sequence[str], change: Estimate) -> str:
    """The largest mean change with half of its interval, and where it is."""
    old, new, flavor, rtt, loss = place
    mean = signed(format(change.mean, "+" + USE.form))
    shown = f"{mean} ± {change.half_width:{USE.form}}"
    return f"{shown} ({flavor} from {old} to {new}, {rtt} ms, {loss})"


def beside_bbr(kept: Kept) -> Numbers:
    """The least and the largest part of the link that bbr has beside reno or cubic, by queue."""
    shares: dict[str, list[float]] = {}
    for row in kept.cells(SHARED).rows:
        first, late = row["flavor"].split("+")
        share = number(row, SHARE.response)
        if share is not None and (first == BBR) != (late == BBR):
            shares.setdefault(row["queue"], []).append(share if late == BBR else 1 - share)
    names = {"drop-tail-1": "one", "drop-tail-4": "four", "fq-codel": "fair"}
    found: dict[str, Number] = {
        f"{names[queue]}_{side}": bound
        for queue, some in shares.items()
        for side, bound in (("low", min(some)), ("high", max(some)))
    }
    most = max(int(row["seeds"]) for row in kept.cells(SHARED).rows)
    return {"seeds": seeds_of(kept, SHARED), "most_seeds": most, **found}


def with_losses(kept: Kept) -> Numbers:
    """Efficiency where the path loses one packet in a hundred at random: least and largest."""
    rows = [row for row in kept.cells(LOSSES).rows if row["loss"] == "1 in 100"]
    groups = {
        "bbr": [row for row in rows if row["flavor"] == BBR],
        "short": [row for row in rows if row["flavor"] != BBR and row["rtt"] == "40"],
        "long": [row for row in rows if row["flavor"] != BBR and row["rtt"] == "160"],
    }
    found: dict[str, Number] = {"seeds": seeds_of(kept, LOSSES)}
    for name, some in groups.items():
        known = [x for row in some if (x := number(row, USE.response)) is not None]
        found |= {f"{name}_low": min(known), f"{name}_high": max(known)}
    return found


def few_seeds(kept: Kept) -> Numbers:
    """How many seeds the experiments have that were not run with each seed of the first one."""
    return {"shared": seeds_of(kept, SHARED), "losses": seeds_of(kept, LOSSES)}


def seeds_of(kept: Kept, campaign: str) -> str:
    """How many seeds a cell of a campaign has, in words."""
    return seeds_in_words([int(row["seeds"]) for row in kept.cells(campaign).rows])


def seeds_in_words(counts: Sequence[int]) -> str:
    """Of cells with so many seeds: "one seed", "3 seeds", "10 seeds (1 cell has only 6)"."""
    known = Counter(counts)
    most = max(known)
    whole = "one seed" if most == 1 else f"{most} seeds"
    less = [
        f"{cells} {'cell has' if cells == 1 else 'cells have'} only {seeds}"
        for seeds, cells in sorted(known.items())
        if seeds != most
    ]
    return f"{whole} ({', '.join(less)})" if less else whole
