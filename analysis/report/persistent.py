# SPDX-License-Identifier: GPL-2.0-only
"""The sections of a report on persistent sources (96-0518R1's design).

Its tables beside the published ones, what was lost, the largest queues against the sum of the
windows, and the paper's observations judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.comparison import RESPONSES, CellComparison, NetworkSummary, estimate, summarise
from analysis.conclusions import Conclusion
from analysis.metrics import capacity_bit_per_s
from analysis.persistent import FACTORS, Row, rows
from analysis.persistent_verdicts import judge
from analysis.records import Campaign, Trial
from analysis.report import persistent_plots, persistent_sheets, plots, sheets, trial_plots
from analysis.report.model import Claim, Claims, Gallery, Plot, Section, Sheet
from analysis.verdicts import Finding, Verdict

METHOD = "95 % intervals over rows and seeds"
POLICIES = ("plain", "EPD", "EPD-n")
QUEUES = 3
"""As many plots of the queue over time in each network."""


@dataclass(frozen=True, kw_only=True)
class Persistent:
    """A campaign's rows and what follows from them, computed once.

    judged: the paper's observations; none where a campaign varies more than the paper did.
    """

    campaign: Campaign
    rows: Sequence[Row]
    cells: Sequence[CellComparison]
    summaries: Sequence[NetworkSummary]
    judged: Sequence[tuple[Conclusion, Finding]]

    @property
    def networks(self) -> tuple[str, ...]:
        """Networks that were measured, in the order of the rows."""
        return tuple(dict.fromkeys(row.factors["network"] for row in self.rows))

    def of(self, network: str) -> list[Row]:
        """The rows of one network."""
        return [row for row in self.rows if row.factors["network"] == network]

    def varying(self, network: str) -> list[str]:
        """Factors that have more than one level in a network, in the experiment's order."""
        found = self.of(network)
        return [
            name
            for name in self.campaign.factors
            if name != "network" and len({row.factors.get(name) for row in found}) > 1
        ]

    def levels(self, network: str, factor: str) -> list[str]:
        """A factor's levels in a network, in the experiment's order."""
        there = {row.factors.get(factor) for row in self.of(network)}
        return [level for level in self.campaign.levels(factor) if level in there]


def persistent_of(campaign: Campaign) -> Persistent:
    """Compute everything once."""
    found = sorted(rows([campaign]), key=_place)
    cells = [
        _cell(row, response)
        for response in RESPONSES
        for row in found
        if row.paper and row.values(response)
    ]
    return Persistent(
        campaign=campaign,
        rows=found,
        cells=cells,
        summaries=summarise(cells),
        judged=judge(found) if _as_in_the_paper(campaign) else (),
    )


def _place(row: Row) -> tuple[object, ...]:
    """As the paper's tables are sorted: LAN first, then by what has a number, then by policy."""
    numbers = (row.sources, row.buffer_cells, row.plan["tcp"]["window_bytes"])
    policy = row.factors["policy"]
    known = POLICIES.index(policy) if policy in POLICIES else len(POLICIES)
    return row.factors["network"], *numbers, known


def _as_in_the_paper(campaign: Campaign) -> bool:
    """Does nothing vary but what the paper varied, and the number of sources?"""
    return not any(varies_beyond(campaign, name) for name in campaign.factors)


def varies_beyond(campaign: Campaign, factor: str) -> bool:
    """Is it a factor that the paper did not vary, the number of sources left aside?"""
    beyond = factor == "flavor" or factor not in FACTORS
    return beyond and len(campaign.levels(factor)) > 1


def _cell(row: Row, response: str) -> CellComparison:
    """A row as the comparison knows it: its buffer and all else that is not a factor there."""
    paper = row.paper or {}
    values = row.values(response)
    rest = [level for name, level in row.factors.items() if name not in ("network", "policy")]
    return CellComparison(
        network=row.factors["network"],
        flavor=row.factors["flavor"],
        policy=row.factors["policy"],
        buffer=" ".join(rest),
        response=response,
        values=values,
        estimate=estimate(values),
        paper=paper[response],
    )


def sections(found: Persistent) -> list[Section]:
    """All sections but those on the trials and on how they were made."""
    return [
        _summary(found),
        _results(found),
        *_variants(found),
        _windows(found),
        *([_conclusions(found)] if found.judged else []),
    ]


def files(found: Persistent) -> list[Sheet]:
    """Tables for the CSV only: every source's throughput, and the verdicts."""
    verdicts = [persistent_sheets.conclusions(found.judged)] if found.judged else []
    return [persistent_sheets.sources(found.rows, found.campaign.factors), *verdicts]


def _summary(found: Persistent) -> Section:
    paragraphs = []
    if found.judged:
        counts = dict.fromkeys(Verdict, 0)
        for _, finding in found.judged:
            counts[finding.verdict] += 1
        told = ", ".join(f"{verdict.value} {number}" for verdict, number in counts.items())
        paragraphs.append(
            f"The paper's observations, as {len(found.judged)} checks ({METHOD}): {told}."
        )
    parts: list[Sheet | Gallery] = []
    if found.summaries:
        drawn = [plots.scatter(found.cells, found.summaries, name) for name in RESPONSES]
        plotted = [plot for plot in drawn if plot is not None]
        parts = [sheets.summary(found.summaries), Gallery(plots=plotted)]
    else:
        paragraphs.append("No row of this campaign has a published value to compare with.")
    return Section(id="summary", title="In short", paragraphs=paragraphs, parts=parts)


def _results(found: Persistent) -> Section:
    mss, link = _size_and_link(found.rows[0].plan)
    capacity = capacity_bit_per_s(mss, link * 1e6) / 1e6
    text = (
        f"Efficiency is the sum of the sources' throughputs over {capacity:.1f} Mbit/s, what "
        f"segments of {mss} bytes leave of {link:.2f} Mbit/s; fairness is Jain's index over the "
        "throughputs (96-0518R1, Performance Metrics). Both are of the interval that the "
        "experiment measures; the columns from the start have all of the trial in them."
    )
    return Section(
        id="rows",
        title="Results",
        paragraphs=[text],
        sections=[_network(found, network) for network in found.networks],
    )


def _size_and_link(plan: Mapping[str, Mapping[str, Any]]) -> tuple[int, float]:
    return plan["topology"]["mss_bytes"], plan["topology"]["rate_bit_per_s"] / 1e6


def _network(found: Persistent, network: str) -> Section:
    mine, varying = found.of(network), found.varying(network)
    drawn = [persistent_plots.dots(network, mine, varying, name) for name in RESPONSES]
    by_sources = [persistent_plots.by_sources(network, mine, varying, name) for name in RESPONSES]
    galleries = [
        drawn,
        [plot for plot in by_sources if plot is not None],
        _queues(found.campaign, network),
    ]
    return Section(
        id=f"rows-{network.lower()}",
        title=network,
        parts=[
            persistent_sheets.results(network, mine, varying),
            *(Gallery(plots=some) for some in galleries[:2] if some),
            persistent_sheets.losses(network, mine, varying),
            *(Gallery(plots=some) for some in galleries[2:] if some),
        ],
    )


def _queues(campaign: Campaign, network: str) -> list[Plot]:
    """The queue over time, of the first trial with losses under each policy."""
    first: dict[str, Trial] = {}
    for trial in campaign.trials:
        frames = trial.document["queue"]["down"]["frames"]
        if trial.factors["network"] == network and frames["in"] > frames["delivered"]:
            first.setdefault(trial.factors["policy"], trial)
    drawn = [trial_plots.queue(trial, "shown", _levels(trial)) for trial in first.values()]
    return [plot for plot in drawn if plot is not None][:QUEUES]


def _levels(trial: Trial) -> str:
    factors = trial.factors
    return f"Queue, {factors['policy']}, buffer {factors['buffer']}, window {factors['window']}"


def _variants(found: Persistent) -> list[Section]:
    """A section for each factor beyond the paper's that has more than one level."""
    return [
        Section(
            id=f"variants-{factor}",
            title=f"By {factor}",
            parts=[
                persistent_sheets.variants(network, found.of(network), factor, levels)
                for network in found.networks
                if len(levels := found.levels(network, factor)) > 1
            ],
        )
        for factor in found.campaign.factors
        if varies_beyond(found.campaign, factor)
    ]


def _windows(found: Persistent) -> Section:
    text = (
        "Where nothing is lost every source has a whole window on its way, in whole segments, "
        "and what the path does not hold lies in the queue. The path holds what the port sends "
        "from a segment's last cell to that of the segment which its acknowledgement lets go: "
        "propagation there and back, the segment and its acknowledgement whole on the access "
        "links of both ends, and one cell of the acknowledgement at its port. A single source "
        "has its queue before its own link, which is as fast as the port."
    )
    sheet = persistent_sheets.windows(found.rows, found.campaign)
    paragraphs = [text] if sheet.rows else ["No row of this campaign has a queue and no loss."]
    return Section(
        id="windows",
        title="The queue's peak and the sum of the windows",
        paragraphs=paragraphs,
        parts=[sheet] if sheet.rows else [],
    )


def _conclusions(found: Persistent) -> Section:
    claims = [
        Claim(
            sentence=about.sentence,
            source=about.source,
            reading=about.reading,
            verdicts=[(METHOD, finding.verdict.value, finding.evidence)],
        )
        for about, finding in found.judged
    ]
    return Section(
        id="conclusions",
        title="The paper's observations",
        paragraphs=[
            "Each published sentence with its slide, how a check reads it, and what the rows say. "
            "Undecided: not measured, or the interval allows both."
        ],
        parts=[Claims(claims=claims)],
    )
