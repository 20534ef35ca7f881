# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one: losses, queues over time, queue and windows."""

from collections.abc import Sequence

from analysis.cells import Cell
from analysis.records import Trial
from analysis.report import headings, trial_plots, variant_tables
from analysis.report.model import Column, Gallery, Plot, Section, Sheet, Value
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.ubr_1996 import captures, goodputs, lengths, plots, verdicts
from studies.ubr_1996.abstract import abstract, clock, lan, limit, queue
from studies.ubr_1996.amounts import amounts
from studies.ubr_1996.checks import CHECKS
from studies.ubr_1996.path import (
    full_queue_cells,
    lossless,
    path_cells,
    segment_cells,
    window_segments,
    windows_cells,
)
from studies.ubr_1996.readme import TABLES
from studies.ubr_1996.study import throughputs_bit_per_s

QUEUES = 3
"""As many plots of the queue over time in each network."""
Line = list[Value]


def panels(results: Results, network: str) -> Sequence[Sheet | Gallery]:
    """Of one network: its cells by policy and by number of sources, losses, queues."""
    responses = [one.name for one in results.study.means]
    dots = [plots.dots(results, network, name) for name in responses]
    lines = [plots.by_sources(results, network, name) for name in responses]
    found: list[Sheet | Gallery] = [
        Gallery(plots=dots),
        Gallery(plots=[plot for plot in lines if plot is not None]),
        losses(results, network),
        Gallery(plots=_queues(results, network)),
    ]
    return [part for part in found if isinstance(part, Sheet) or part.plots]


def losses(results: Results, network: str) -> Sheet:
    """What was lost and what it cost, means over the trials."""
    factors = _heads(results)
    columns = [
        *(headings.factor_column(results.study, factor) for factor in factors),
        Column(name="lost_frames", title="Frames lost", form=",.0f"),
        Column(name="timeouts", title="Timeouts", form=",.1f"),
        Column(name="retransmits", title="Segments sent again", form=",.0f"),
        Column(name="wasted_percent", title="Cells wasted (%)", form=".2f"),
        Column(name="peak_cells", title="Largest queue (cells)", form=",.0f"),
        Column(name="least_mbit_per_s", title="Least source (Mbit/s)", form=".2f"),
        Column(name="most_mbit_per_s", title="Largest source (Mbit/s)", form=".2f"),
        Column(name="efficiency_from_start", title="From the start: efficiency", form=".3f"),
        Column(name="fairness_from_start", title="fairness", form=".3f"),
    ]
    return Sheet(
        name=headings.named("losses", network),
        caption=f"{network}: frames lost from the start, timeouts and segments sent again in the "
        "interval, cells let in of frames that lost another; means a trial; the largest queue of "
        "all trials",
        columns=columns,
        rows=[_loss(cell, factors) for cell in results.every(network)],
        heads=len(factors),
    )


def _loss(cell: Cell, factors: Sequence[str]) -> Line:
    peaks = cell.values("peak_cells")
    return [
        *(cell.levels.get(factor) for factor in factors),
        *map(cell.mean, ("lost_frames", "timeouts", "retransmits")),
        None if (wasted := cell.mean("wasted_share")) is None else 100 * wasted,
        max(peaks) if peaks else None,
        *(_mega(cell.mean(name)) for name in ("least_bit_per_s", "largest_bit_per_s")),
        *map(cell.mean, ("efficiency_from_start", "fairness_from_start")),
    ]


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def _heads(results: Results) -> list[str]:
    return [factor for factor in results.factors if factor != "network"]


def _queues(results: Results, network: str) -> list[Plot]:
    """The queue over time, of the first trial with losses under each policy."""
    first: dict[str, Trial] = {}
    for trial in results.campaign.trials:
        if trial.factors["network"] == network and trial.metrics.get("lost_frames"):
            first.setdefault(trial.factors["policy"], trial)
    drawn = [
        trial_plots.plot(trial, drawing)
        for trial in first.values()
        if (drawing := trial_plots.queue(trial, "shown", _levels(trial))) is not None
    ]
    return drawn[:QUEUES]


def _levels(trial: Trial) -> str:
    factors = trial.factors
    return f"Queue, {factors['policy']}, buffer {factors['buffer']}, window {factors['window']}"


def by_flavor(results: Results) -> Section | None:
    """Later senders against the paper's; None where there is one flavor."""
    if len(results.campaign.levels("flavor")) < 2:
        return None
    sheet = variant_tables.variants(results, ["flavor"], "flavors")
    return Section(id="flavors", title="By flavor", parts=[sheet])


def windows(results: Results) -> Section:
    """The largest queue and the sum of the windows, to the cell."""
    text = (
        "Where nothing is lost every source has a whole window on its way, in whole segments, "
        "and what the path does not hold lies in the queue. The path holds what the port sends "
        "from a segment's last cell to that of the segment which its acknowledgement lets go: "
        "propagation there and back, the segment and its acknowledgement whole on the access "
        "links of both ends, and one cell of the acknowledgement at its port. A single source "
        "has its queue before its own link, which is as fast as the port."
    )
    chosen = [cell for cell in results.every_cell if lossless(cell) and full_queue_cells(cell)]
    chosen = [cell for cell in chosen if cell.values("peak_cells")]
    found = [_windows(results, chosen)] if chosen else []
    return Section(
        id="windows",
        title="The queue's peak and the sum of the windows",
        paragraphs=[text] if found else ["No cell of this campaign has a queue and no loss."],
        parts=found,
    )


def _windows(results: Results, cells: Sequence[Cell]) -> Sheet:
    columns = [
        *(headings.factor_column(results.study, factor) for factor in results.factors),
        Column(name="segments", title="Segments a window", form=",d"),
        Column(name="cells_a_segment", title="Cells a segment", form="d"),
        Column(name="windows_cells", title="Sum of windows", form=",d"),
        Column(name="path_cells", title="On the path", form=",d"),
        Column(name="full_queue_cells", title="Left for the queue", form=",d"),
        Column(name="peak_cells", title="Largest queue", form=",d"),
        Column(name="difference_cells", title="Difference", form="+,d"),
    ]
    return Sheet(
        name="windows",
        caption="Cells without loss, all in ATM cells",
        columns=columns,
        rows=[_window(cell, results.factors) for cell in cells],
        heads=len(results.factors),
    )


def _window(cell: Cell, factors: Sequence[str]) -> Line:
    peak, full = round(max(cell.values("peak_cells"))), full_queue_cells(cell) or 0
    return [
        *(cell.levels.get(factor) for factor in factors),
        window_segments(cell),
        segment_cells(cell),
        windows_cells(cell),
        path_cells(cell),
        full,
        peak,
        peak - full,
    ]


def sources(results: Results) -> Sheet:
    """Every source's throughput in every trial, for the CSV."""
    factors = list(results.campaign.factors)
    rows: list[Line] = [
        [*(trial.factors.get(factor) for factor in factors), trial.seed, pair, rate]
        for cell in results.every_cell
        for trial in cell.trials
        for pair, rate in throughputs_bit_per_s(trial).items()
    ]
    columns = [
        *(headings.factor_column(results.study, factor) for factor in factors),
        Column(name="seed", title="Seed", form="d"),
        Column(name="source", title="Source", form="d"),
        Column(name="throughput_bit_per_s", title="Throughput (bit/s)", form=",.0f"),
    ]
    return Sheet(name="sources", caption="Sources", columns=columns, rows=rows, heads=len(factors))


PAGES = Pages(
    sections=[by_flavor, windows],
    panels=[panels],
    files=[sources],
    checks=CHECKS,
    tables={**TABLES, "length": lengths.table, "held": captures.table},
    numbers={
        "above-one": captures.above_one,
        "abstract": abstract,
        "amounts": amounts,
        "clock": clock,
        "draws": lambda kept: {**verdicts.draws(kept), **goodputs.pairs()},
        "goodputs": goodputs.numbers,
        "held": captures.held,
        "lan": lan,
        "length": lengths.numbers,
        "limit": limit,
        "queue": queue,
    },
    kept=["windows"],
)
