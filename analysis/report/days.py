# SPDX-License-Identifier: GPL-2.0-only
"""The days on which seeds ran, in words."""

from collections.abc import Mapping, Sequence
from datetime import date

from analysis.report.model import listed

Days = Mapping[int, Sequence[str]]
"""Seed -> the days on which its trials ended (UTC), in their order; a day as in 2026-11-25."""


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


def all_days(found: Days) -> str:
    """All days, from the first on."""
    return listed([_text(day) for day in sorted({day for some in found.values() for day in some})])


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = list(range(seeds[0], seeds[-1] + 1)) == [*seeds] and len(seeds) > 2
    return f"the seeds {f'{seeds[0]} to {seeds[-1]}' if whole else listed(map(str, seeds))}"


def _text(day: str) -> str:
    known = date.fromisoformat(day)
    return f"{known.day} {known:%B %Y}"
