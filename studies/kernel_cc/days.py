# SPDX-License-Identifier: GPL-2.0-only
"""When its kept trials ended, and with which releases (sentences.toml), from the kept results."""

from collections.abc import Mapping, Sequence
from datetime import date

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.model import listed
from analysis.report.sentences import Numbers
from studies.kernel_cc.changes import CAMPAIGN
from studies.kernel_cc.findings import FAST, KERNELS, LOSSES, SHARED
from studies.kernel_cc.mixed import MIXED

TRIALS = kept_trials.FILE.removesuffix(".csv")
OTHERS = {"shared": SHARED, "losses": LOSSES, "fast": FAST, "ends": MIXED}
Days = Mapping[int, Sequence[str]]
"""Seed -> the days on which its trials ended (UTC), in their order; a day as in 2026-11-25."""


def days(kept: Kept) -> Numbers:
    """The days of each seed, and the releases of the middle kernel."""
    found = days_of(kept, CAMPAIGN)
    releases = releases_of(kept, KERNELS[1])
    return {
        "days": in_words(found),
        "mixed": sum(len(some) > 1 for some in found.values()),
        "middle": KERNELS[1],
        "releases": len(releases),
        "first_release": releases[0],
        "last_release": releases[-1],
        **{f"{name}_days": _all_days(days_of(kept, of)) for name, of in OTHERS.items()},
    }


def days_of(kept: Kept, campaign: str) -> Days:
    """The days of each seed of a campaign."""
    found: dict[int, set[str]] = {}
    for row in kept.table(campaign, TRIALS).rows:
        found.setdefault(int(row["seed"]), set()).add(row["ended"][:10])
    return {seed: sorted(found[seed]) for seed in sorted(found)}


def releases_of(kept: Kept, kernel: str) -> list[str]:
    """The releases of a kernel that the campaign ran, from the oldest on."""
    versions = {str(one["kernel"]) for one in kept.manifest(CAMPAIGN)["versions"]}
    return sorted(
        (one for one in versions if one.startswith(f"{kernel}.")),
        key=lambda release: [int(part) for part in release.split(".")],
    )


def in_words(found: Days) -> str:
    """Which seeds ran on which day; a seed of several days is named with each of them."""
    by_day: dict[str, list[int]] = {}
    for seed, some in found.items():
        for day in some:
            by_day.setdefault(day, []).append(seed)
    parts = [f"{_seeds(by_day[day])} on {_text(day)}" for day in sorted(by_day)]
    first, *rest = parts
    text = listed([first.replace(" on ", " ran on ", 1), *rest])
    return text[0].upper() + text[1:]


def _all_days(found: Days) -> str:
    return listed([_text(day) for day in sorted({day for some in found.values() for day in some})])


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = list(range(seeds[0], seeds[-1] + 1)) == [*seeds] and len(seeds) > 2
    return f"the seeds {f'{seeds[0]} to {seeds[-1]}' if whole else listed(map(str, seeds))}"


def _text(day: str) -> str:
    known = date.fromisoformat(day)
    return f"{known.day} {known:%B %Y}"
