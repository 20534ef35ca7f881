# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one, and the tables of its README."""

from collections.abc import Callable

from analysis.kept import Kept, number
from analysis.report.model import Gallery, Section, Sheet, Value, plain
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.leo import findings, plots, shares

Table = Callable[[Kept], Sheet]
FIGURES = (
    ("efficiency", "efficiency", ".3f"),
    ("throughput_mbit_per_s", "Mbit/s", ".2f"),
    ("fairness", "fairness", ".3f"),
    ("queue_delay_ms", "queue (ms)", ".1f"),
    ("retransmits", "sent again", ",.0f"),
    ("use_after_handover", "after less before", "+.3f"),
)
LABELS = {
    "efficiency": "efficiency",
    "use_after_handover": "share of the rate, after less before",
    "queue_delay_ms": "queue delay (ms)",
}


def by_sender(results: Results) -> Section | None:
    """A picture for each response; None without a campaign of this study's factors."""
    if "sender" not in results.campaign.factors:
        return None
    along = [
        factor
        for factor in ("network", "flows", "buffer", "policy")
        if len(results.campaign.levels(factor)) > 1
    ]
    known = {
        name: label
        for name, label in LABELS.items()
        if any(cell.values(name) for cell in results.every_cell)
    }
    drawn = [plots.by_sender(results, name, label, along) for name, label in known.items()]
    return Section(id="by-sender", title="By sender", parts=[Gallery(plots=drawn)])


def cells(campaign: str, *factors: str) -> Table:
    """The cells of a campaign, with their efficiency, fairness and queue."""

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [*(row[factor] for factor in factors), int(row["seeds"]),
             *(number(row, name) for name, _, _ in FIGURES)]
            for row in kept.cells(campaign).rows
        ]  # fmt: skip
        heads = [(title, form) for _, title, form in FIGURES]
        return plain(rows, *factors, ("seeds", "d"), *heads)

    return table


def claims(campaign: str, *prefixes: str) -> Table:
    """The claims that a campaign decides, each with its verdict."""

    def table(kept: Kept) -> Sheet:
        rows: list[list[Value]] = [
            [row["sentence"], row["source"], row["reading"], row["verdict_replications"],
             row["evidence_replications"]]
            for row in kept.claims(campaign).rows
            if row["id"].startswith(prefixes)
        ]  # fmt: skip
        return plain(rows, "sentence", "source", "reading", "verdict", "measured")

    return table


PAGES = Pages(
    sections=[by_sender],
    tables={
        "single": cells(findings.SINGLE, "network", "sender"),
        "starlink": claims(findings.SINGLE, "starlink-bbr", "starlink-ratio"),
        "paths": cells(findings.PATHS_OF_TWO, "network", "flows", "sender"),
        "flows": claims(findings.PATHS_OF_TWO, "starlink-single"),
        "factors": cells(findings.FACTORS, "buffer", "policy", "sender"),
        "ubr": claims(findings.FACTORS, "ubr"),
    },
    numbers={
        "single": findings.single,
        "one-path": findings.one_path,
        "flows": findings.flows,
        "slower": findings.slower,
        "factors": findings.factors,
        "shares": shares.intervals,
        "least-fair": findings.least_fair,
    },
)
