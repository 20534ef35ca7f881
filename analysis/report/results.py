# SPDX-License-Identifier: GPL-2.0-only
"""All that a report says about a campaign, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.anova import Anova
from analysis.campaign_file import of_document
from analysis.cells import (
    Cell,
    Distance,
    cells_of,
    distances,
    group_of,
    published_cells,
    variant_factors,
    variant_name,
)
from analysis.claims import Claim, Evidence, Finding, Method, NoEvidenceError, Verdict, claims_of
from analysis.claims.checks import Check
from analysis.records import CampaignRecords, Trial, level_text
from analysis.study import Study

Findings = dict[Method, Sequence[tuple[Claim, Finding]]]


@dataclass(frozen=True, kw_only=True)
class Results:
    """Cells, distances and findings of a campaign.

    Attributes:
        study: the campaign's, or, where its factors are others, what is left of it without cells.
        every_cell: those of all variants; variants: name -> its cells, the first the one that the
            report is about; cells: that one's.
        methods: those that the number of seeds allows; the last is the sharper.
        findings: by method, each claim with what the cells say of it; none where none is decided.
        by_variant: the same of every variant whose cells decide any, by its sharpest method.
        whole_cells: how many cells the source publishes or the experiment has; 0 without a study.
    """

    campaign: CampaignRecords
    study: Study
    every_cell: Sequence[Cell]
    variants: Mapping[str, Sequence[Cell]]
    cells: Sequence[Cell]
    distances: Sequence[Distance]
    methods: Sequence[Method]
    findings: Findings
    by_variant: Mapping[str, Sequence[tuple[Claim, Finding]]]
    measured: Evidence
    published: Evidence
    whole_cells: int

    @property
    def trials(self) -> Sequence[Trial]:
        """Those that count."""
        return self.campaign.trials

    @property
    def measured_cells(self) -> int:
        """How many cells of the source's design any variant has."""
        return len({_named(cell.levels, self.study) for cell in self.every_cell})

    @property
    def partial(self) -> bool:
        """Has the source's design more cells than were measured?"""
        return self.measured_cells < self.whole_cells

    @property
    def factors(self) -> tuple[str, ...]:
        """Factors that name a cell, and after them those that make variants."""
        if not self.study.cell:
            return tuple(self.campaign.factors)
        return (*self.study.cell, *variant_factors(self.campaign, self.study))

    @property
    def groups(self) -> tuple[str, ...]:
        """Levels of `by` that were measured, in the experiment's order."""
        by = self.study.by
        return (self.campaign.levels(by) if by else ("",)) if self.every_cell else ()

    def of(self, group: str) -> list[Cell]:
        """The cells of one level of `by`."""
        return [cell for cell in self.cells if group_of(cell, self.study) == group]

    def every(self, group: str) -> list[Cell]:
        """The cells of all variants, of one level of `by`."""
        return [cell for cell in self.every_cell if group_of(cell, self.study) == group]

    def levels(self, group: str, factor: str) -> tuple[str, ...]:
        """A factor's levels in one level of `by`, in the experiment's order."""
        there = {cell.levels.get(factor) for cell in self.every(group)}
        return tuple(level for level in self.campaign.levels(factor) if level in there)

    def levels_of(self, factor: str) -> tuple[str, ...]:
        """A factor's levels in all cells, in the experiment's order."""
        there = {cell.levels.get(factor) for cell in self.every_cell}
        return tuple(level for level in self.campaign.levels(factor) if level in there)

    def anova(self, group: str, response: str) -> Anova | None:
        """ANOVA of the measured cells; None where the design is not whole."""
        return self._anova(self.measured, group, response)

    def published_anova(self, group: str, response: str) -> Anova | None:
        """ANOVA of the published cells; None where nothing is compared with them."""
        return self._anova(self.published, group, response) if self.distances else None

    def _anova(self, evidence: Evidence, group: str, response: str) -> Anova | None:
        if not self.study.anova:
            return None
        where = {self.study.by: [group]} if self.study.by else {}
        try:
            return evidence.anova(where, response)
        except NoEvidenceError:
            return None


def results_of(campaign: CampaignRecords, study: Study, checks: Mapping[str, Check]) -> Results:
    """Compute everything once; the report is about the variant that the experiment names first.

    checks: those that the study's claims name beyond the engine's own.
    """
    study = fitting(campaign, study)
    every = sorted(cells_of(campaign.trials), key=lambda cell: place(cell, campaign, study))
    factors = variant_factors(campaign, study)
    variants: dict[str, list[Cell]] = {}
    for cell in sorted(every, key=lambda cell: _places(cell, campaign, factors)):
        variants.setdefault(variant_name(cell.levels, factors), []).append(cell)
    cells = next(iter(variants.values()), [])
    methods = _methods(cells, study)
    return Results(
        campaign=campaign,
        study=study,
        every_cell=every,
        variants=variants,
        cells=cells,
        distances=distances(cells, study),
        methods=methods,
        findings=_findings(cells, study, methods, checks),
        by_variant=_by_variant(variants, study, checks),
        measured=Evidence(cells, study, methods[-1]),
        published=Evidence(published_cells(study), study, Method.CELL_MEANS),
        whole_cells=_whole_cells(campaign, study),
    )


def _whole_cells(campaign: CampaignRecords, study: Study) -> int:
    """Of the source, or of the experiment, whichever has more; 0 where no factor names a cell."""
    if not study.cell:
        return 0
    listed = of_document(campaign.folder, campaign.document).trials or ()
    planned = {_named(entry.factors, study) for entry in listed if entry.counts}
    return max(len(planned), len(study.published_cells))


def _named(levels: Mapping[str, object], study: Study) -> tuple[str, ...]:
    """The levels that name a cell of the source's design."""
    return tuple(level_text(levels.get(factor)) for factor in study.cell)


def fitting(campaign: CampaignRecords, study: Study) -> Study:
    """The study, where every trial has the factors that name its cells; else without them."""
    if all(set(study.cell) <= set(trial.factors) for trial in campaign.trials):
        return study
    return replace(study, cell={}, by=None, anova=(), published_cells=(), claims=None, pages="")


def place(cell: Cell, campaign: CampaignRecords, study: Study) -> tuple[object, ...]:
    """Sort key: the levels of what names a cell, `by` first, then all others."""
    named = sorted(study.cell, key=lambda factor: factor != study.by)
    return _places(cell, campaign, [*named, *(f for f in campaign.factors if f not in named)])


def _places(cell: Cell, campaign: CampaignRecords, factors: Sequence[str]) -> tuple[object, ...]:
    """Where numbers stand by their size, and words as the experiment has them."""
    found = []
    for factor in factors:
        level, levels = cell.levels.get(factor), campaign.factors.get(factor, ())
        try:
            found.append(float(level or ""))
        except ValueError:
            found.append(levels.index(level) if level in levels else len(levels))
    return tuple(found)


def _methods(cells: Sequence[Cell], study: Study) -> tuple[Method, ...]:
    if not study.anova:
        return (Method.SEEDS,)
    counts = [
        min(len(cell.values(one.name)), 1 if cell.one_record else len(cell.trials))
        for cell in cells
        for one in study.means
    ]
    replicated = bool(cells) and min((n for n in counts if n), default=0) > 1
    return (Method.CELL_MEANS, *([Method.REPLICATIONS] if replicated else []))


def _by_variant(
    variants: Mapping[str, Sequence[Cell]], study: Study, checks: Mapping[str, Check]
) -> dict[str, Sequence[tuple[Claim, Finding]]]:
    found = {}
    for name, cells in variants.items():
        method = _methods(cells, study)[-1]
        findings = _findings(cells, study, [method], checks)
        if findings:
            found[name] = findings[method]
    return found


def _findings(
    cells: Sequence[Cell],
    study: Study,
    methods: Sequence[Method],
    checks: Mapping[str, Check],
) -> Findings:
    """All claims by each method; nothing where the cells decide none of them.

    They are about the source's own design: cells of which it has not one do not test them.
    """
    if study.published is not None and not distances(cells, study):
        return {}
    claims = claims_of(study, checks)
    found: Findings = {}
    for method in methods:
        evidence = Evidence(cells, study, method)
        found[method] = [(claim, claim.on(evidence)) for claim in claims]
    decided = any(
        finding.verdict is not Verdict.UNDECIDED
        for findings in found.values()
        for _, finding in findings
    )
    return found if decided else {}
