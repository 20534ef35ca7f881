# SPDX-License-Identifier: GPL-2.0-only
"""Witnesses: other programs that carry the traffic of a study's trials, beside the kernel.

studies/ID/results/EXPERIMENT/NAME.csv has a line for each run: a column for each factor, then
`seed`, `variant`, and the figures. `./cellbed study witness ID` writes it.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.records import level_text
from analysis.table import Row, read_csv
from plan.plan import Plan

Figures = Mapping[str, float | str | None]
OWN = ("seed", "variant")


@dataclass(frozen=True, kw_only=True)
class Witness:
    """One such program.

    Attributes:
        name: of its files.
        experiments: the names of those whose trials it carries; the first where none is asked for.
        variants: what may be different from the plan; the first is the plan itself.
        run: given a plan, a folder with what the host made for it (a trace), and a variant, the
            figures of the run; None where the program has not what the plan asks for.
    """

    name: str
    experiments: tuple[str, ...]
    variants: tuple[str, ...]
    run: Callable[[Plan, Path, str], Figures | None]

    def file(self, folder: Path, experiment: str) -> Path:
        """Where its lines of an experiment's trials are kept; `folder`: the study's."""
        return folder / "results" / experiment / f"{self.name}.csv"


def line(plan: Plan, variant: str, figures: Figures) -> Row:
    """A run as it is kept."""
    levels = {name: level_text(level) for name, level in plan.factors.items()}
    known = {name: "" if value is None else str(value) for name, value in figures.items()}
    return {**levels, "seed": str(plan.seed), "variant": variant, **known}


def read(path: Path) -> list[Row]:
    """The lines that are kept; none where there is no file. Raises TableError on a damaged one."""
    return list(read_csv(path).rows) if path.exists() else []


def write(path: Path, new: Iterable[Row]) -> None:
    """Keep these lines beside those that are kept; a new one replaces the old one of its run."""
    lines = {_run(row): row for row in (*read(path), *new)}
    columns = dict.fromkeys(name for row in lines.values() for name in row)
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(lines.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")


def _run(row: Row) -> tuple[str, ...]:
    """Which run a line is of: its levels, which are before the seed, seed and variant."""
    names = list(row)
    return tuple(row[name] for name in names[: names.index(OWN[-1]) + 1])
