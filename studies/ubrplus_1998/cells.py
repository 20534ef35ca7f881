# SPDX-License-Identifier: GPL-2.0-only
"""Kept cells of the study, and how its README writes them."""

import math
from collections.abc import Sequence
from statistics import fmean

from analysis.kept import Kept, number
from analysis.report.model import MISSING, Value, signed
from analysis.statistics import rank_correlation
from analysis.table import Row

RESPONSES = ("efficiency", "fairness")


def cells_of(kept: Kept, campaign: str, **levels: str) -> list[Row]:
    """The cells of a campaign with these levels."""
    return [row for row in kept.cells(campaign).rows if levels.items() <= row.items()]


def heads(*columns: tuple[str, str]) -> list[tuple[str, str]]:
    """The heads of a table with these columns for each response, which the first one names."""
    (first, form), *others = columns
    return [head for name in RESPONSES for head in ((f"{name}: {first}", form), *others)]


def distance(rows: Sequence[Row], response: str) -> list[Value]:
    """To the published: mean absolute difference, mean difference, rank correlation."""
    both = [
        (float(row[response]), float(row[f"{response}_published"]))
        for row in rows
        if row[response] and row[f"{response}_published"]
    ]
    differences = [measured - published for measured, published in both]
    measured, published = zip(*both, strict=True)
    return [
        fmean(map(abs, differences)),
        fmean(differences),
        rank_correlation(measured, published),
    ]


def apart(row: Row, response: str) -> float:
    """How far two single seeds of a cell may lie apart (95 %), by the deviation of its seeds."""
    return float(row[f"{response}_half_width"]) * math.sqrt(2 * int(row["seeds"]))


def pair(row: Row) -> str:
    """Both responses of a cell."""
    return " / ".join(_text(number(row, name), ".3f") for name in RESPONSES)


def change(row: Row | None, base: Row) -> str:
    """Both responses less the base's; empty where the cell was not measured."""
    if row is None:
        return ""
    texts = []
    for name in RESPONSES:
        value, first = number(row, name), number(base, name)
        texts.append(_text(None if value is None or first is None else value - first, "+.3f"))
    return " / ".join(texts)


def _text(value: float | None, form: str) -> str:
    return MISSING if value is None else signed(format(value, form))
