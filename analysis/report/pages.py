# SPDX-License-Identifier: GPL-2.0-only
"""What a study adds to its report."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.claims.checks import Check
from analysis.kept import Kept
from analysis.report.model import Gallery, Section, Sheet
from analysis.report.results import Results
from analysis.report.sentences import Source
from analysis.study import Study


@dataclass(frozen=True, kw_only=True)
class Pages:
    """All of it may be left out.

    Attributes:
        sections: each gives a section after the results, or None where it has nothing to say.
        panels: each gives tables and galleries for the results of one level of `by`.
        files: each gives a table that goes to CSV only.
        checks: those that its claims name beyond the engine's own.
        tables: those of its README, by name, each from the kept results.
        numbers: those of its README's sentences, by name, each from the kept results
            (analysis/report/sentences.py).
        kept: names of tables of the report that are kept beside cells and claims.
    """

    sections: Sequence[Callable[[Results], Section | None]] = ()
    panels: Sequence[Callable[[Results, str], Sequence[Sheet | Gallery]]] = ()
    files: Sequence[Callable[[Results], Sheet]] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)
    tables: Mapping[str, Callable[[Kept], Sheet]] = field(default_factory=dict)
    numbers: Mapping[str, Source] = field(default_factory=dict)
    kept: Sequence[str] = ()


def pages_of(study: Study) -> Pages:
    """A study's pages; none where it names no module."""
    return importlib.import_module(study.pages).PAGES if study.pages else Pages()
