# SPDX-License-Identifier: GPL-2.0-only
"""Results of persistent sources as files: rows.csv, conclusions.csv and two figures.

Usage: python -m analysis.persistent_results CAMPAIGN [CAMPAIGN...] --out FOLDER
"""

import argparse
import csv
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from analysis.comparison import estimate
from analysis.errors import AnalysisError
from analysis.persistent import Row, rows
from analysis.persistent_verdicts import judge
from analysis.records import read_campaign

METRICS = ("efficiency", "fairness", "efficiency_from_start")
COUNTS = ("timeouts", "retransmits", "wasted_share")


def table(found: Sequence[Row]) -> list[dict[str, str]]:
    """One line a row: levels, trials, means with half-widths, published figures, cells."""
    return [_line(row) for row in found]


def _line(row: Row) -> dict[str, str]:
    line = dict(row.factors) | {"trials": str(len(row.lost_frames))}
    for metric in METRICS:
        found = estimate(row.metrics[metric])
        line[metric] = f"{found.mean:.4f}"
        line[f"{metric}_half_width"] = "" if found.half_width is None else f"{found.half_width:.4f}"
        if row.paper and metric in row.paper:
            line[f"{metric}_paper"] = f"{row.paper[metric]:g}"
    for metric in COUNTS:
        value = statistics.fmean(row.metrics[metric]) if metric in row.metrics else None
        line[metric] = "" if value is None else f"{value:.5g}"
    return line | {
        "lost_frames": f"{statistics.fmean(row.lost_frames):.5g}",
        "peak_cells": f"{max(row.metrics['peak_cells']):.0f}",
        "windows_cells": str(row.windows_cells),
        "path_cells": str(row.path_cells),
        "least_share": f"{min(min(s) * len(s) for s in row.shares):.4f}",
    }


def write_table(path: Path, lines: Sequence[dict[str, str]]) -> None:
    """Write a CSV with every column that any line has."""
    columns = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def conclusions(found: Sequence[Row]) -> list[dict[str, str]]:
    """Every conclusion, its verdict and evidence."""
    return [
        {
            "id": about.id,
            "sentence": about.sentence,
            "source": about.source,
            "reading": about.reading,
            "verdict": finding.verdict.value,
            "evidence": finding.evidence,
        }
        for about, finding in judge(found)
    ]


def figure_policies(found: Sequence[Row]) -> Figure:
    """Efficiency of the paper's rows with losses by policy, measured beside published."""
    chosen = [row for row in found if _is(row, sources="5", flavor="Vanilla") and not row.lossless]
    base = [row for row in chosen if row.factors["policy"] == "plain"]
    whole = Figure(figsize=(8, 3.4), layout="constrained")
    axes = whole.subplots()
    for offset, policy in ((-0.25, "plain"), (0.0, "EPD"), (0.25, "EPD-n")):
        same = [_twin(chosen, row, "policy", policy) for row in base]
        places = [i + offset for i, row in enumerate(same) if row is not None]
        there = [row for row in same if row is not None]
        estimates = [estimate(row.metrics["efficiency"]) for row in there]
        axes.errorbar(
            places,
            [one.mean for one in estimates],
            [one.half_width or 0 for one in estimates],
            fmt="o",
            capsize=3,
            markersize=4,
            label=policy,
        )
        published = [
            (place, row.paper["efficiency"])
            for place, row in zip(places, there, strict=True)
            if row.paper
        ]
        if published:
            axes.plot(*zip(*published, strict=True), "x", color="black", markersize=6)
    axes.plot([], [], "x", color="black", label="published")
    names = [" ".join(row.factors[f] for f in ("network", "buffer", "window")) for row in base]
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names])
    axes.set(ylabel="efficiency", ylim=(0, 1))
    axes.legend(ncols=4, frameon=False, loc="upper left")
    return whole


def figure_sources(found: Sequence[Row]) -> Figure:
    """LAN, 65,535 bytes: efficiency, and the largest queue, by number of sources."""
    whole = Figure(figsize=(8, 3), layout="constrained")
    left, right = whole.subplots(1, 2)
    for flavor in ("Vanilla", "SACK"):
        for policy, marker in (("plain", "o-"), ("EPD", "s--")):
            chosen = [r for r in found if _is(r, buffer="1000", flavor=flavor, policy=policy)]
            _line_by_sources(left, chosen, "efficiency", marker, f"{flavor} {policy}")
    chosen = [r for r in found if _is(r, buffer="10000", flavor="Vanilla", policy="plain")]
    _line_by_sources(right, chosen, "peak_cells", "o-", "largest queue")
    _line_by_sources(right, chosen, lambda r: r.windows_cells, "--", "sum of windows")
    left.set(xscale="log", xlabel="sources", ylabel="efficiency", ylim=(0, 1), title="1000 cells")
    right.set(xscale="log", yscale="log", xlabel="sources", ylabel="cells", title="10,000 cells")
    for axes in (left, right):
        axes.legend(frameon=False)
    return whole


def _line_by_sources(
    axes: object, chosen: Iterable[Row], value: str | Callable[[Row], float], form: str, label: str
) -> None:
    in_lan = [row for row in chosen if _is(row, network="LAN", window="65535")]
    in_lan.sort(key=lambda row: int(row.factors["sources"]))
    numbers = [int(row.factors["sources"]) for row in in_lan]
    values = [
        statistics.fmean(row.metrics[value]) if isinstance(value, str) else value(row)
        for row in in_lan
    ]
    axes.plot(numbers, values, form, markersize=4, label=label)  # type: ignore[attr-defined]


def _is(row: Row, **levels: str) -> bool:
    return row.matches({factor: [level] for factor, level in levels.items()})


def _twin(found: Iterable[Row], like: Row, factor: str, level: str) -> Row | None:
    wanted = dict(like.factors) | {factor: level}
    return next((row for row in found if dict(row.factors) == wanted), None)


def write(campaigns: Sequence[Path], out: Path) -> None:
    """Write all files of the campaigns' rows into `out`."""
    found = rows(read_campaign(path) for path in campaigns)
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "rows.csv", table(found))
    write_table(out / "conclusions.csv", conclusions(found))
    # Neither date nor random ids: the same records make the same files.
    with mpl.rc_context({"svg.hashsalt": "cellbed", "svg.fonttype": "none", "font.size": 9}):
        for name, draw in (("policies", figure_policies), ("sources", figure_sources)):
            draw(found).savefig(out / f"{name}.svg", metadata={"Date": None})


def main() -> int:
    """Command line; a mistake is one line on standard error."""
    parser = argparse.ArgumentParser(prog="persistent_results", description=__doc__)
    parser.add_argument("campaigns", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    try:
        write(options.campaigns, options.out)
    except AnalysisError as error:
        print(f"persistent_results: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
