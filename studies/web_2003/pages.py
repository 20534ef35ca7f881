# SPDX-License-Identifier: GPL-2.0-only
"""What its report has beside the generic one: the slides' comparisons, loads, classes."""

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.cells import Cell
from analysis.report import headings
from analysis.report.model import Column, Gallery, Plot, Section, Sheet, Value
from analysis.report.pages import Pages
from analysis.report.results import Results
from studies.web_2003 import plots
from studies.web_2003.checks import CHECKS
from studies.web_2003.numbers import NUMBERS
from studies.web_2003.readme import TABLES
from studies.web_2003.study import AS_IN_NS2, QUEUES, SENDERS
from studies.web_2003.times import ROUND_TRIPS, SIZES, Class, exchanges, quantile

SLIDES = ("80", "105")
"""The loads of the slides' figures."""
LINES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "drop tail, Reno and SACK": {"Reno": ("Reno", "drop-tail"), "SACK": ("SACK", "drop-tail")},
    "drop tail and ARED": {
        "drop tail": ("SACK", "drop-tail"),
        "ARED": ("SACK", "ARED"),
        "ARED as in ns-2": ("SACK", "ARED as in ns-2"),
    },
    "ARED and ARED+ECN": {
        "ARED": ("SACK", "ARED"),
        "ARED+ECN": ("SACK", "ARED+ECN"),
        "ARED as in ns-2": ("SACK", "ARED as in ns-2"),
        "ARED+ECN as in ns-2": ("SACK", "ARED+ECN as in ns-2"),
    },
    "drop tail and ARED+ECN": {
        "drop tail": ("SACK", "drop-tail"),
        "ARED+ECN": ("SACK", "ARED+ECN"),
        "ARED+ECN as in ns-2": ("SACK", "ARED+ECN as in ns-2"),
    },
}
"""Slides 7 to 10: title -> line -> its sender and queue; the first two are the slide's own."""


def as_on_the_slides(results: Results) -> Section | None:
    """Its four comparisons at 80 and 105 %; None where neither load was run."""
    drawn = [plot for load in SLIDES for plot in _comparisons(results, load)]
    if not drawn:
        return None
    text = (
        "Slides 7 to 10 compare these distribution functions. Their figures are not at hand: what "
        "can be compared is which line is above, and where lines cross. Which sender stands behind "
        "the queues' comparisons is not said; here it is SACK."
    )
    return Section(
        id="slides",
        title="As the slides have them",
        paragraphs=[text],
        parts=[Gallery(plots=drawn)],
    )


def _comparisons(results: Results, load: str) -> list[Plot]:
    found = []
    for number, (title, lines) in enumerate(LINES.items(), start=7):
        cells = {
            label: [one for one in results.cells if _is(one, load, sender, queue)]
            for label, (sender, queue) in lines.items()
        }
        # A trial that an earlier part of the campaign kept has no response times here. A picture of
        # the other seeds alone would replace that of all.
        if not all(_recorded(some) for some in cells.values()):
            continue
        times = {label: plots.pooled(some) for label, some in cells.items()}
        drawn = {label: some for label, some in times.items() if len(some)}
        if {*list(cells)[:2]} <= drawn.keys():
            found.append(plots.functions(load, title, f"slide-{number}-{load}", drawn))
    return found


def _recorded(cells: Sequence[Cell]) -> bool:
    return all(exchanges(trial) is not None for cell in cells for trial in cell.trials)


def _is(cell: Cell, load: str, sender: str, queue: str) -> bool:
    return cell.matches({"load": [load], "sender": [sender], "queue": [queue]})


def over_the_load(results: Results) -> Section | None:
    """Quantiles over the load, of the slides' senders; None with a single load."""
    levels = results.campaign.levels
    if len(levels("load")) < 2 or not set(levels("sender")) <= set(SENDERS):
        return None
    titles = {"median_ms": "Median response time", "p90_ms": "90th percentile"}
    drawn = [plots.over_load(results, response, title) for response, title in titles.items()]
    return Section(id="loads", title="Over the load", parts=[Gallery(plots=drawn), shares(results)])


TO_RUN = {
    "p90_ms": "90 %",
    "median_ms": "median",
    "p99_ms": "99 %",
    "small_median_ms": "small, median",
    "large_median_ms": "large, median",
}


def what_to_run(results: Results) -> Section | None:
    """Senders and queues by their 90th percentiles; None for the slides' own."""
    if set(results.campaign.levels("queue")) <= {*QUEUES, *AS_IN_NS2}:
        return None
    text = (
        "The same traffic for all; above is what keeps nine responses of ten shortest. Small ones "
        "are of a single segment, large ones above 50 kB; again: something was sent again."
    )
    loads = results.campaign.levels("load")
    sheets = [_by_p90(results, load) for load in loads]
    return Section(
        id="to-run", title="What a web server and a router should run", paragraphs=[text],
        parts=[sheet for sheet in sheets if sheet.rows],
    )  # fmt: skip


def _by_p90(results: Results, load: str) -> Sheet:
    cells = [one for one in results.cells if one.matches({"load": [load]})]
    known = [one for one in cells if one.mean("p90_ms") is not None]
    rows: list[list[Value]] = [
        [cell.levels["sender"], cell.levels["queue"], *map(cell.mean, TO_RUN)]
        + [_percent(cell.mean("resent_share"))]
        for cell in sorted(known, key=lambda one: one.mean("p90_ms") or 0)
    ]
    columns = [
        *(headings.factor_column(results.study, factor) for factor in ("sender", "queue")),
        *(Column(name=name, title=title, form=",.0f") for name, title in TO_RUN.items()),
        Column(name="resent_share", title="again (%)", form=".1f"),
    ]
    caption = f"Load {load} %: response times (ms), the shortest 90th percentile first"
    return Sheet(
        name=headings.named("to-run", load), caption=caption, columns=columns, rows=rows, heads=2
    )


SHARES = {
    "unfinished_share": "not finished",
    "resent_share": "something sent again",
    "sack_share": "of these with 4 segments or more",
    "marked_share_of_exchanges": "something marked",
}


DROPPED = {"dropped_share": "packets dropped, down", "dropped_share_up": "packets dropped, up"}
"""Most kept trials of November 2026 have no figure of the queue "up"."""


def shares(results: Results) -> Sheet:
    """What became of the exchanges, in per cent of all."""
    columns = [
        *(headings.factor_column(results.study, factor) for factor in results.study.cell),
        *(Column(name=name, title=f"{title} (%)", form=".2f") for name, title in SHARES.items()),
        *(Column(name=name, title=f"{title} (%)", form=".2f") for name, title in DROPPED.items()),
    ]
    rows: list[list[Value]] = [
        [
            *(cell.levels[factor] for factor in results.study.cell),
            *(_percent(cell.mean(name)) for name in (*SHARES, *DROPPED)),
        ]
        for cell in results.cells
    ]
    return Sheet(
        name="shares",
        caption="Exchanges by what became of them, of all; and packets dropped of those that came "
        "to the queue of each direction",
        columns=columns,
        rows=rows,
        heads=len(results.study.cell),
    )


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


CLASS_QUANTILES = {"50 %": 0.5, "90 %": 0.9}


def classes(results: Results, load: str) -> Sequence[Sheet | Gallery]:
    """Medians and 90th percentiles by size and by round trip."""
    return [
        _classes(results, load, "size", SIZES),
        _classes(results, load, "round trip", ROUND_TRIPS),
    ]


def _classes(results: Results, load: str, kind: str, some: Sequence[Class]) -> Sheet:
    cells = [one for one in results.cells if one.matches({"load": [load]})]
    rows: list[list[Value]] = [
        [cell.levels["sender"], cell.levels["queue"]]
        + [_of_class(cell, one, share) for one in some for share in CLASS_QUANTILES.values()]
        for cell in cells
    ]
    columns = [
        *(headings.factor_column(results.study, factor) for factor in ("sender", "queue")),
        *(
            Column(name=f"{one.name}, {name}", title=f"{one.name}, {name}", form=",.0f")
            for one in some
            for name in CLASS_QUANTILES
        ),
    ]
    return Sheet(
        name=headings.named(f"by-{kind.replace(' ', '-')}", load),
        caption=f"Load {load} %: response times (ms) by {kind}, medians and 90th percentiles",
        columns=columns,
        rows=rows,
        heads=2,
    )


def _of_class(cell: Cell, one: Class, share: float) -> float | None:
    """A quantile of all the cell's trials together."""
    found = [table for trial in cell.trials if (table := exchanges(trial))]
    values = [table.response_ms[one.of(table)] for table in found]
    return quantile(np.concatenate(values), share) if values else None


PAGES = Pages(
    sections=[what_to_run, as_on_the_slides, over_the_load],
    panels=[classes],
    checks=CHECKS,
    tables=TABLES,
    numbers=NUMBERS,
    kept=["shares"],
)
