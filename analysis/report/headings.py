# SPDX-License-Identifier: GPL-2.0-only
"""The headings of a table's columns, and the names and captions of tables."""

from collections.abc import Collection

from analysis.report import named as words
from analysis.report.model import Column, Value
from analysis.study import Study

DIFFERENCES = (
    Column(name="mean_absolute_difference", title="Mean absolute difference", form=".4f"),
    Column(name="mean_difference", title="Mean difference", form="+.4f"),
    Column(name="largest_difference", title="Largest difference", form="+.4f"),
)
"""Columns of what is measured less what was to be expected, over cells."""
Columns = list[Column]
Line = list[Value]
Lines = list[Line]


def factor_column(study: Study, factor: str, factors: Collection[str] = ()) -> Column:
    """The column of a factor's levels; factors: all of the table, so that no two look alike."""
    return Column(name=factor, title=heading(study, factor, factors))


def heading(study: Study, factor: str, factors: Collection[str] = ()) -> str:
    """One of several factors as the heading of a column."""
    return words.heading(factor, factors) if "." in factor else study.heading(factor)


def along(study: Study, factor: str, factors: Collection[str] = ()) -> str:
    """One of several factors as the label of an axis."""
    text = heading(study, factor, factors)
    return text if text == factor else text[:1].lower() + text[1:]


def named(kind: str, group: str) -> str:
    """The name of a table or plot of one level of `by`."""
    return f"{kind}-{group.lower()}" if group else kind


def titled(group: str, text: str) -> str:
    """A caption that begins with the level of `by`, or else with a capital letter."""
    return f"{group}: {text}" if group else f"{text[:1].upper()}{text[1:]}"
