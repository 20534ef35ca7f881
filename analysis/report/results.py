# SPDX-License-Identifier: GPL-2.0-only
"""All that a report says about the variant of a campaign it is about, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.anova import Anova
from analysis.comparison import (
    RESPONSES,
    CellComparison,
    NetworkSummary,
    compare,
    published_cells,
    summarise,
    variants,
)
from analysis.conclusions import Judgement, judge
from analysis.evidence import Evidence, Method, NoEvidenceError
from analysis.published import paper_cells
from analysis.records import Campaign, Trial
from analysis.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class Results:
    """Cells, summaries and evidence of one variant (the report's) of a campaign.

    methods: those that the number of seeds allows; the last is the sharper.
    """

    campaign: Campaign
    variants: Mapping[str, Sequence[Trial]]
    cells: Sequence[CellComparison]
    summaries: Sequence[NetworkSummary]
    methods: Sequence[Method]
    judgements: Mapping[Method, Sequence[Judgement]]
    measured: Evidence
    published: Evidence

    @property
    def networks(self) -> tuple[str, ...]:
        """Networks that were measured, in the experiment's order."""
        return tuple(dict.fromkeys(cell.network for cell in self.cells))

    @property
    def compared(self) -> bool:
        """Whether any cell has a published value beside it."""
        return any(cell.paper is not None for cell in self.cells)

    def of(self, network: str, response: str) -> list[CellComparison]:
        """The cells of one network and response."""
        return [cell for cell in self.cells if (cell.network, cell.response) == (network, response)]

    def anova(self, network: str, response: str) -> Anova | None:
        """ANOVA of the measured cells; None where the design is not whole."""
        return _anova(self.measured, network, response)

    def published_anova(self, network: str, response: str) -> Anova | None:
        """ANOVA of the published cells; None where nothing is compared with them."""
        return _anova(self.published, network, response) if self.compared else None


def results_of(campaign: Campaign) -> Results:
    """Compute everything once; the report is about the variant with the most trials.

    A campaign of another design than 98-0876R1's has neither cells nor variants here.
    """
    groups = variants(campaign) if campaign.is_papers else {}
    trials = next(iter(groups.values()), ())
    cells = [cell for response in RESPONSES for cell in compare(trials, response)]
    replicated = bool(cells) and min(len(cell.values) for cell in cells) > 1
    methods = [Method.CELL_MEANS, *([Method.REPLICATIONS] if replicated else [])]
    compared = any(cell.paper is not None for cell in cells)
    return Results(
        campaign=campaign,
        variants=groups,
        cells=cells,
        summaries=summarise(cells),
        methods=methods,
        judgements=_judgements(cells, methods) if compared else {},
        measured=Evidence(cells, methods[-1]),
        published=Evidence(
            [cell for name in RESPONSES for cell in published_cells(paper_cells(), name)],
            Method.CELL_MEANS,
        ),
    )


def _judgements(
    cells: Sequence[CellComparison], methods: Sequence[Method]
) -> dict[Method, Sequence[Judgement]]:
    """All conclusions by each method; none when there is nothing to decide any of them on."""
    found: dict[Method, Sequence[Judgement]] = {method: judge(cells, method) for method in methods}
    decided = any(
        judgement.finding.verdict is not Verdict.UNDECIDED
        for judgements in found.values()
        for judgement in judgements
    )
    return found if decided else {}


def _anova(evidence: Evidence, network: str, response: str) -> Anova | None:
    try:
        return evidence.anova(network, response)
    except NoEvidenceError:
        return None
