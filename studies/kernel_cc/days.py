# SPDX-License-Identifier: GPL-2.0-only
"""When its kept trials ended, and with which releases (sentences.toml), from the kept results."""

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.days import Days, all_days, in_words
from analysis.report.sentences import Numbers
from studies.kernel_cc.changes import CAMPAIGN
from studies.kernel_cc.findings import FAST, KERNELS, LOSSES, SHARED
from studies.kernel_cc.mixed import MIXED
from studies.kernel_cc.window import WINDOW

TRIALS = kept_trials.FILE.removesuffix(".csv")
OTHERS = {"shared": SHARED, "losses": LOSSES, "fast": FAST, "ends": MIXED, "window": WINDOW}


def days(kept: Kept) -> Numbers:
    """The days of each seed, and the releases of the middle kernel."""
    found = days_of(kept, CAMPAIGN)
    releases = releases_of(kept, KERNELS[1])
    return {
        "days": in_words(found),
        "first_day": all_days({1: found[1]}),
        "mixed": sum(len(some) > 1 for some in found.values()),
        "middle": KERNELS[1],
        "releases": len(releases),
        "first_release": releases[0],
        "last_release": releases[-1],
        **{f"{name}_days": all_days(days_of(kept, of)) for name, of in OTHERS.items()},
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
