# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a report on persistent sources."""

import statistics
from collections.abc import Collection, Iterable, Sequence

from analysis.comparison import RESPONSES, estimate
from analysis.conclusions import Conclusion
from analysis.metrics import TCP_IP_HEADER_BYTES, frame_cells
from analysis.persistent import Row
from analysis.records import Campaign
from analysis.report.model import Column, Sheet, Value
from analysis.verdicts import Finding

HEADS = {"buffer": "Buffer (cells)", "window": "Window (bytes)"}
Cells = list[Value]


def results(network: str, rows: Sequence[Row], varying: Sequence[str]) -> Sheet:
    """One network's rows: mean, interval over the seeds, published value, difference."""
    columns = [*_heads(varying), Column(name="seeds", title="Seeds", form="d")]
    for response in RESPONSES:
        columns += [
            Column(name=response, title=response.capitalize(), form=".3f"),
            Column(name=f"{response}_half_width", title="±", form=".3f"),
            Column(name=f"{response}_paper", title="Paper", form=".2f"),
            Column(name=f"{response}_difference", title="Difference", form="+.3f"),
        ]
    columns += [
        Column(name="efficiency_from_start", title="From the start: efficiency", form=".3f"),
        Column(name="fairness_from_start", title="fairness", form=".3f"),
    ]
    return Sheet(
        name=f"rows-{network.lower()}",
        caption=f"{network}: measured mean, half-width of its 95 % interval over the seeds, "
        "published value, difference",
        columns=columns,
        rows=[_result(row, varying) for row in rows],
        heads=len(varying),
    )


def _result(row: Row, varying: Sequence[str]) -> Cells:
    cells: Cells = [*_levels(row, varying), len(row.lost_frames)]
    for response in RESPONSES:
        values, published = row.values(response), (row.paper or {}).get(response)
        found = estimate(values) if values else None
        difference = None if published is None or found is None else found.mean - published
        measured = [found.mean, found.half_width] if found else [None, None]
        cells += [*measured, published, difference]
    return [*cells, row.mean("efficiency_from_start"), _mean(row.fairness_from_start)]


def losses(network: str, rows: Sequence[Row], varying: Sequence[str]) -> Sheet:
    """One network's rows: what was lost and what it cost, means over the trials."""
    columns = [
        *_heads(varying),
        Column(name="lost_frames", title="Frames lost", form=",.0f"),
        Column(name="timeouts", title="Timeouts", form=",.1f"),
        Column(name="retransmits", title="Segments sent again", form=",.0f"),
        Column(name="wasted_percent", title="Cells wasted (%)", form=".2f"),
        Column(name="peak_cells", title="Largest queue (cells)", form=",.0f"),
        Column(name="least_mbit_per_s", title="Least source (Mbit/s)", form=".2f"),
        Column(name="most_mbit_per_s", title="Largest source (Mbit/s)", form=".2f"),
    ]
    return Sheet(
        name=f"losses-{network.lower()}",
        caption=f"{network}: frames lost from the start, timeouts and segments sent again in the "
        "interval, cells let in of frames that lost another; means a trial; the largest queue of "
        "all trials",
        columns=columns,
        rows=[_loss(row, varying) for row in rows],
        heads=len(varying),
    )


def _loss(row: Row, varying: Sequence[str]) -> Cells:
    wasted, peaks = row.mean("wasted_share"), row.values("peak_cells")
    each = [rates.values() for rates in row.throughputs_bit_per_s]
    return [
        *_levels(row, varying),
        statistics.fmean(row.lost_frames),
        row.mean("timeouts"),
        row.mean("retransmits"),
        None if wasted is None else 100 * wasted,
        max(peaks) if peaks else None,
        statistics.fmean(min(rates) for rates in each) / 1e6 if all(each) else None,
        statistics.fmean(max(rates) for rates in each) / 1e6 if all(each) else None,
    ]


def variants(network: str, rows: Sequence[Row], factor: str, levels: Sequence[str]) -> Sheet:
    """Each level of a factor against the first, over the rows that both have."""
    columns = [
        Column(name=factor, title=factor.capitalize()),
        Column(name="rows", title="Rows", form="d"),
        Column(name="shared_rows", title=f"Shared with {levels[0]}", form="d"),
    ]
    for response in RESPONSES:
        columns += [
            Column(name=response, title=response.capitalize(), form=".3f"),
            Column(name=f"{response}_effect", title="Effect", form="+.3f"),
            Column(name=f"{response}_half_width", title="±", form=".3f"),
            Column(name=f"{response}_mad", title="From the paper", form=".3f"),
        ]
    return Sheet(
        name=f"{factor}-{network.lower()}",
        caption=f"{network}, {factor}: mean over its rows; effect: less {levels[0]} over the rows "
        "that both have, with its 95 % interval over them; from the paper: mean absolute "
        "difference of the rows that it has",
        columns=columns,
        rows=[_variant(rows, factor, level, levels[0]) for level in levels],
    )


def _variant(rows: Sequence[Row], factor: str, level: str, first: str) -> Cells:
    own, base = (_by_row(rows, factor, name) for name in (level, first))
    shared = [key for key in own if key in base] if level != first else []
    cells: Cells = [level, len(own), len(shared) or None]
    for response in RESPONSES:
        means = {key: mean for key, row in own.items() if (mean := row.mean(response)) is not None}
        gains = [
            means[key] - first_mean
            for key in shared
            if key in means and (first_mean := base[key].mean(response)) is not None
        ]
        effect = estimate(gains) if gains else None
        away = [
            abs(mean - paper[response])
            for key, mean in means.items()
            if (paper := own[key].paper) is not None
        ]
        cells += [
            _mean(means.values()),
            effect.mean if effect else None,
            effect.half_width if effect else None,
            _mean(away),
        ]
    return cells


def _by_row(rows: Sequence[Row], factor: str, level: str) -> dict[tuple[str, ...], Row]:
    """The rows of one level, by their levels of all other factors."""
    return {
        tuple(text for name, text in row.factors.items() if name != factor): row
        for row in rows
        if row.factors.get(factor) == level
    }


def windows(rows: Sequence[Row], campaign: Campaign) -> Sheet:
    """Rows without loss and with a queue: the sum of the windows, the path, the largest queue."""
    chosen = [
        row for row in rows if row.lossless and row.full_queue_cells and row.values("peak_cells")
    ]
    varying = [
        name for name in campaign.factors if len({row.factors.get(name) for row in chosen}) > 1
    ]
    columns = [
        *_heads(varying),
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
        caption="Rows without loss, all in cells",
        columns=columns,
        rows=[_window(row, varying) for row in chosen],
        heads=len(varying),
    )


def _window(row: Row, varying: Sequence[str]) -> Cells:
    mss = row.plan["topology"]["mss_bytes"]
    peak, full = round(max(row.values("peak_cells"))), row.full_queue_cells or 0
    return [
        *_levels(row, varying),
        row.plan["tcp"]["window_bytes"] // mss,
        frame_cells(mss + TCP_IP_HEADER_BYTES),
        row.windows_cells,
        row.path_cells,
        full,
        peak,
        peak - full,
    ]


def sources(rows: Sequence[Row], factors: Iterable[str]) -> Sheet:
    """Every source's throughput in every trial, for the CSV."""
    names = list(factors)
    lines: list[Cells] = [
        [*_levels(row, names), seed, pair, rate]
        for row in rows
        for seed, rates in zip(row.seeds, row.throughputs_bit_per_s, strict=True)
        for pair, rate in rates.items()
    ]
    columns = [
        *_heads(names),
        Column(name="seed", title="Seed", form="d"),
        Column(name="source", title="Source", form="d"),
        Column(name="throughput_bit_per_s", title="Throughput (bit/s)", form=",.0f"),
    ]
    return Sheet(name="sources", caption="Sources", columns=columns, rows=lines, heads=len(names))


def conclusions(judged: Sequence[tuple[Conclusion, Finding]]) -> Sheet:
    """Every observation and its verdict, for the CSV."""
    names = ("id", "source", "sentence", "reading", "verdict", "evidence")
    return Sheet(
        name="conclusions",
        caption="Observations",
        columns=[Column(name=name, title=name.capitalize()) for name in names],
        rows=[
            [
                about.id,
                about.source,
                about.sentence,
                about.reading,
                finding.verdict.value,
                finding.evidence,
            ]
            for about, finding in judged
        ],
    )


def _heads(names: Iterable[str]) -> list[Column]:
    return [Column(name=name, title=HEADS.get(name, name.capitalize())) for name in names]


def _levels(row: Row, names: Iterable[str]) -> Cells:
    return [row.factors.get(name) for name in names]


def _mean(values: Collection[float]) -> float | None:
    return statistics.fmean(values) if values else None
