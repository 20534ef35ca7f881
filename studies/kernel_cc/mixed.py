# SPDX-License-Identifier: GPL-2.0-only
"""To which end a change belongs: its README's table and sentences of two kernels on one link.

A level of `ends` names the kernel of the senders and then that of the receivers. A level of a
single kernel has both ends in one lab.
"""

from collections.abc import Iterable, Mapping, Sequence

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Numbers
from analysis.statistics import Estimate, estimate

MIXED = "kernel-mixed"
NEW, OLD = "6.12", "6.1"
CONTROL = f"{NEW} to {NEW}"
SOME_OLD = (f"{NEW} to {OLD}", f"{OLD} to {NEW}", f"{OLD} to {OLD}")
ENDS = (NEW, CONTROL, *SOME_OLD)
FLAVORS = ("reno", "cubic", "bbr")
RESPONSES = (
    ("queue_delay_ms", "queue (ms)", ".2f"),
    ("retransmits", "sent again", ".1f"),
    ("first_threshold_segments", "first threshold (segments)", ".1f"),
    ("second_reduction_s", "second reduction (s)", ".2f"),
)
"""The responses of the table: name, title, form."""
BySeed = Mapping[int, float]
"""Seed -> value."""


def table(kept: Kept) -> Sheet:
    """Each flavor and pair of ends: means over the seeds, and the queue's change."""
    rows = [
        _line(kept, flavor, ends) for flavor in FLAVORS for ends in ENDS if _of(kept, flavor, ends)
    ]
    heads = [(title, form) for _, title, form in RESPONSES]
    return plain(
        rows,
        "flavor",
        "senders",
        "receivers",
        "labs",
        ("seeds", "d"),
        *heads,
        "change of the queue (ms)",
    )


def _line(kept: Kept, flavor: str, ends: str) -> list[Value]:
    senders, _, receivers = ends.partition(" to ")
    means = [_mean(_of(kept, flavor, ends, name)) for name, *_ in RESPONSES]
    shown = None if ends == CONTROL else _shown(change(kept, flavor, ends))
    labs = "2" if receivers else "1"
    count = len(_of(kept, flavor, ends))
    return [flavor, senders, receivers or senders, labs, count, *means, shown]


def change(kept: Kept, flavor: str, ends: str, response: str = "queue_delay_ms") -> Estimate:
    """A response less that of the control, paired by seed."""
    own, control = (_of(kept, flavor, level, response) for level in (ends, CONTROL))
    return estimate([own[seed] - control[seed] for seed in sorted(own.keys() & control.keys())])


def mixed(kept: Kept) -> Numbers:
    """What reno's queue does with each pair of ends, and what stands before it."""
    changes = [change(kept, "reno", ends) for ends in SOME_OLD]
    first = [_of(kept, "reno", ends, "first_threshold_segments") for ends in (CONTROL, *SOME_OLD)]
    second = [_of(kept, "reno", ends, "second_reduction_s") for ends in (CONTROL, *SOME_OLD)]
    others = [
        abs(change(kept, flavor, ends).mean)
        for flavor in FLAVORS
        if flavor != "reno"
        for ends in SOME_OLD
    ]
    return {
        "seeds": min(one.n for one in changes),
        "trials": kept.manifest(MIXED)["trials"],
        "left_out": kept.manifest(MIXED)["left_out"],
        "old": OLD,
        "new": NEW,
        "control": _mean(_of(kept, "reno", CONTROL)),
        **dict(zip(("receivers", "senders", "both"), map(_shown, changes), strict=True)),
        **one_lab(kept),
        "others": max(others),
        "need_both": int(all(one.low is not None and one.low > max(others) for one in changes)),
        "first_new": _bounds(first[0].values(), ".0f"),
        "first_old": _bounds([x for one in first[1:] for x in one.values()], ".0f"),
        "later": _bounds(_later(second), ".1f"),
    }


def one_lab(kept: Kept) -> Numbers:
    """What one lab changes of the queue against two labs of the same kernel [ms]: the largest
    mean change, and the largest change of a single seed."""
    means = {flavor: change(kept, flavor, NEW) for flavor in FLAVORS}
    flavor = max(means, key=lambda name: abs(means[name].mean))
    single = {
        (name, seed): (own[seed], delay)
        for name in FLAVORS
        for own in [_of(kept, name, NEW)]
        for seed, delay in _of(kept, name, CONTROL).items()
        if seed in own
    }
    name, seed = max(single, key=lambda place: abs(single[place][0] - single[place][1]))
    one, two = single[name, seed]
    return {
        "one_lab": _shown(means[flavor]),
        "one_lab_flavor": flavor,
        "single_ms": abs(one - two),
        "single_flavor": name,
        "single_seed": seed,
        "single_one": one,
        "single_two": two,
    }


def _later(second: Sequence[BySeed]) -> list[float]:
    """By how much later a trial with an old end has its second reduction than the control [s]."""
    control, *others = second
    return [own[seed] - control[seed] for own in others for seed in own.keys() & control.keys()]


def _of(kept: Kept, flavor: str, ends: str, response: str = "queue_delay_ms") -> BySeed:
    """The kept trials' values of a response; seeds without one are left out."""
    return kept_trials.by_seed(kept.folder / MIXED, response, flavor=flavor, ends=ends)


def _mean(values: BySeed) -> float | None:
    return sum(values.values()) / len(values) if values else None


def _bounds(values: Iterable[float], form: str) -> str:
    """The least and the largest value, as "1177" where they look equal, or as "1176 to 1177"."""
    known = sorted(values)
    return " to ".join(dict.fromkeys(format(x, form) for x in (known[0], known[-1])))


def _shown(value: Estimate) -> str:
    """A change in ms with half of its interval, where there is one."""
    text = signed(f"{value.mean:+.2f}")
    return text if value.half_width is None else f"{text} ± {value.half_width:.2f}"
