# SPDX-License-Identifier: GPL-2.0-only
"""What a study is: one folder `studies/ID` with a `study.py` whose STUDY is one of these.

A study is a source (a paper), what it varies and measures, what it published, and the
sentences in which it says what that means. It has no code of its own beyond what is special
to it: its published tables (in `published/`, which is hashed with the code that judges), its
extra checks and pages.

    STUDY = Study(
        id="toy",
        title="A toy",
        source="Nobody, 1999",
        cell={"speed": ("slow", "fast")},
        responses=(Response(name="efficiency"),),
        published=lambda levels, plan: {"efficiency": 0.5},
        claims=Path(__file__).with_name("claims.toml"),
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from analysis.records import Record
from plan.plan import Plan

Measure = Callable[[Record], float | Sequence[float] | None]
"""Of a trial's facts and series: a figure, or (of a distribution) all its values."""


Published = Callable[[Mapping[str, str], Plan], Mapping[str, float] | None]
"""Of a cell's levels (as text) and plan, the source's value of some responses; None without."""


class Summary(Enum):
    """How the trials of a cell are put together."""

    MEAN = "mean over the seeds"
    DISTRIBUTION = "distribution function of all values of all seeds"


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a study measures of every trial.

    Attributes:
        name: that of the metric, and of the column in tables; short: where there is little room.
        of: how it is measured; None: it is one of the metrics that every trial has
            (docs/records.md). What it gives for a mean is kept in the trial's judgement; a
            distribution's values are read from the record when a report is made.
        summary: what is made of the trials of a cell.
        unit: of the values, as a reader sees it; "" without one.
        form: of a mean, and published: of a published value, as `format()` takes them.
        meaning: what a report says of the column; "" where every report says it.
    """

    name: str
    short: str = ""
    of: Measure | None = None
    summary: Summary = Summary.MEAN
    unit: str = ""
    form: str = ".4f"
    published: str = ".4f"
    meaning: str = ""

    def measure(self, trial: Record) -> float | Sequence[float] | None:
        """What `of` gives for a trial; None without one."""
        return None if self.of is None else self.of(trial)

    @property
    def known_to(self) -> float:
        """Half of the last digit that is printed of a published value."""
        digits = self.published.strip(",").removeprefix(".").removesuffix("f")
        return 0.5 * 10.0 ** -int(digits) if digits.isdecimal() else 0.0

    @property
    def title(self) -> str:
        """The name for a reader."""
        text = self.name.replace("_", " ").capitalize()
        return f"{text} ({self.unit})" if self.unit else text


Model = Callable[[Plan], Mapping[str, float]]
"""Computes the responses of a trial from its plan, without a lab."""


Predicted = Callable[[Mapping[str, str], Plan, int], Mapping[str, float] | None]
"""Of a trial's levels, plan and seed, a model's value of some responses; None without."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A model of the same trials, which a report sets against the measured seed by seed.

    of: it is asked for measured trials only, and may read files of the study.
    """

    name: str
    of: Predicted


METRICS = (
    "efficiency", "fairness", "capacity_bit_per_s", "retransmits", "timeouts", "answered",
    "efficiency_from_start", "peak_cells", "wasted_share",
)  # fmt: skip
"""What the judgement of any trial may have (docs/records.md)."""
GENERIC = (
    Response(name="efficiency", short="eff."),
    Response(name="fairness", short="fair."),
)
"""What a trial is measured by where no study says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study; all but id, title and source may be left out.

    Attributes:
        id: the folder's name, and what `study` in an experiment's file says.
        title: one line; source: what its claims quote, as a reader would look it up.
        cell: the factors that name a cell, each with the levels that the source and the claims
            know, in their order. Every other factor of a campaign makes variants. Empty: all
            factors name the cell.
        units: of the levels of some of them, as a reader sees it.
        by: the factor of `cell` whose levels are analysed and shown apart.
        anova: the factors of `cell` that an analysis of variance takes, within a level of `by`.
        responses: what is compared with the source and stands in its tables.
        measures: what is measured beside, for claims and pages; means only.
        about: a paragraph above the results.
        published: the source's figures for a cell; None where it has none at all, so that its
            claims are about orders alone.
        published_cells: all cells of the source, levels and values, so that an analysis of the
            source's own table can stand beside the measured one.
        predictions: models of the same trials.
        path: the factor whose levels are steps, each adding a cause to the one before it; its
            effects are given step by step, not against the first.
        claims: the file of its sentences (analysis/claims).
        model: the module whose `trial` is a Model of it, by name, for nothing but the command that
            runs it imports it.
        pages: the module whose PAGES it adds to a report (analysis/report/pages.py), by name, for
            nothing but a report imports it.
        witness: the module whose WITNESS carries the same traffic in another program
            (analysis/witness.py), by name; "": there is none.
    """

    id: str
    title: str
    source: str
    cell: Mapping[str, Sequence[str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    by: str | None = None
    anova: Sequence[str] = ()
    responses: Sequence[Response] = GENERIC
    measures: Sequence[Response] = ()
    about: str = ""
    published: Published | None = None
    published_cells: Sequence[tuple[Mapping[str, str], Mapping[str, float]]] = ()
    predictions: Sequence[Prediction] = ()
    path: str = ""
    claims: Path | None = None
    model: str = ""
    pages: str = ""
    witness: str = ""

    @property
    def means(self) -> tuple[Response, ...]:
        """The responses of which every trial has one figure."""
        return tuple(one for one in self.responses if one.summary is Summary.MEAN)

    @property
    def distributions(self) -> tuple[Response, ...]:
        """The responses of which every trial has many values."""
        return tuple(one for one in self.responses if one.summary is Summary.DISTRIBUTION)

    @property
    def measured(self) -> tuple[Response, ...]:
        """Those that a judgement has to measure, for the generic metrics do not have them."""
        return tuple(one for one in (*self.means, *self.measures) if one.of is not None)

    @property
    def meanings(self) -> Mapping[str, str]:
        """What its own columns mean, by their names."""
        return {one.name: one.meaning for one in (*self.responses, *self.measures) if one.meaning}

    def heading(self, factor: str) -> str:
        """A factor as the heading of a column."""
        unit = self.units.get(factor)
        return factor.capitalize() + (f" ({unit})" if unit else "")

    def level(self, factor: str, level: str) -> str:
        """A level as words."""
        return f"{level} {self.units[factor]}" if factor in self.units else level


NONE = Study(id="", title="", source="")
"""What a campaign without a study is reported by."""
