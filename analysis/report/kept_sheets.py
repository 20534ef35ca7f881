# SPDX-License-Identifier: GPL-2.0-only
"""Tables of a study's README that several studies have: kept cells, and kept claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from analysis.kept import Kept, number
from analysis.report.model import Sheet, Value, plain

Table = Callable[[Kept], Sheet]
Figures = Sequence[tuple[str, str, str]]
"""Responses: name, title, form."""


def cells(campaign: str, figures: Figures, *factors: str) -> Table:
    """The cells of a campaign: the levels of some factors, the seeds, and some responses."""

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [*(row[factor] for factor in factors), int(row["seeds"]),
             *(number(row, name) for name, _, _ in figures)]
            for row in kept.cells(campaign).rows
        ]  # fmt: skip
        heads = [(title, form) for _, title, form in figures]
        return plain(rows, *factors, ("seeds", "d"), *heads)

    return table


def claims(campaign: str, judged_by: Literal["seeds", "replications"], *prefixes: str) -> Table:
    """The claims that a campaign decides, each with its verdict.

    prefixes: of the claims' ids; without any, all claims.
    """

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [row["sentence"], row["source"], row["reading"], row[f"verdict_{judged_by}"],
             row[f"evidence_{judged_by}"]]
            for row in kept.claims(campaign).rows
            if row["id"].startswith(prefixes or "")
        ]  # fmt: skip
        return plain(rows, "sentence", "source", "reading", "verdict", "measured")

    return table
