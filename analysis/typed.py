# SPDX-License-Identifier: GPL-2.0-only
"""Levels of factors with the type that the experiment gives them.

A record names its cell by texts (analysis/records.py). trial.json has the levels themselves: 250 is
a number there, and sorts before 1000.
"""

from collections.abc import Mapping, Sequence

from analysis.records import CampaignRecords, level_text
from plan.plan import Level

Levels = Mapping[str, Mapping[str, Level]]
"""Factor -> a level as text -> the level."""


def levels_of(campaign: CampaignRecords) -> Levels:
    """The levels of each factor of a campaign's trials, in the order of campaign.factors.

    A factor has levels of one type: numbers if all are numbers, true and false if all are, and
    texts if they are mixed. Of numbers, all are whole, or all are floating-point numbers.
    """
    found: dict[str, dict[str, Level]] = {name: {} for name in campaign.factors}
    for trial in (*campaign.trials, *campaign.invalid):
        for name, level in trial.document["factors"].items():
            found.setdefault(name, {})[level_text(level)] = level
    return {
        name: dict(zip(order, of_one_type([of[text] for text in order]), strict=True))
        for name, of in found.items()
        if (order := [text for text in campaign.factors.get(name, ()) if text in of])
    }


def of_one_type(levels: Sequence[Level]) -> list[Level]:
    """Levels as numbers, as true and false, or as texts."""
    if all(isinstance(level, bool) for level in levels):
        return list(levels)
    if not are_numbers(levels):
        return [level_text(level) for level in levels]
    whole = all(float(level).is_integer() for level in levels)
    return [int(level) if whole else float(level) for level in levels]


def are_numbers(levels: Sequence[Level]) -> bool:
    """Is each of some levels a number?"""
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def typed(texts: Mapping[str, str], known: Levels) -> dict[str, Level]:
    """The levels of a cell, of their own types."""
    return {name: known[name][text] for name, text in texts.items()}
