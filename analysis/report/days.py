# SPDX-License-Identifier: GPL-2.0-only
"""The days on which seeds ran, in words."""

from collections.abc import Mapping, Sequence
from datetime import date

from analysis.report.model import listed

Days = Mapping[int, Sequence[str]]
"""Seed -> the days on which its trials ended (UTC), in their order; a day as in 2026-11-25."""


def in_words(found: Days) -> str:
    """A sentence for each group of seeds that ran on the same days; without the last period."""
    by_days: dict[tuple[str, ...], list[int]] = {}
    for seed, days in found.items():
        by_days.setdefault(tuple(days), []).append(seed)
    return ". ".join(f"{_seeds(by_days[days])} ran on {_texts(days)}" for days in sorted(by_days))


def all_days(found: Days) -> str:
    """All days, from the first on."""
    return _texts(sorted({day for some in found.values() for day in some}))


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"Seed {seeds[0]}"
    whole = list(range(seeds[0], seeds[-1] + 1)) == [*seeds] and len(seeds) > 2
    return f"The seeds {f'{seeds[0]} to {seeds[-1]}' if whole else listed(map(str, seeds))}"


def _texts(days: Sequence[str]) -> str:
    """Days in their order; a month and a year stand once, after their last day."""
    known = [date.fromisoformat(day) for day in days]
    months = [f" {day:%B %Y}" for day in known]
    after = [*months[1:], ""]
    return listed(
        [
            str(day.day) if month == next_month else f"{day.day}{month}"
            for day, month, next_month in zip(known, months, after, strict=True)
        ]
    )
