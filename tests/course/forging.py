# SPDX-License-Identifier: GPL-2.0-only
"""What a student could do to a record, with checksums that fit afterwards."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.records.seal import SUMS, seal


def forge(record: Path, forgery: Callable[[Path], None]) -> None:
    """Do it, and seal what comes out."""
    (record / SUMS).unlink()
    kept = (record / "judgement.json").read_bytes()
    (record / "judgement.json").unlink()
    forgery(record)
    seal(record)
    (record / "judgement.json").write_bytes(kept)


def edited(name: str, **keys: Any) -> Callable[[Path], None]:
    """More keys in one of its JSON files."""

    def edit(record: Path) -> None:
        document = json.loads((record / name).read_text())
        (record / name).write_text(json.dumps(document | keys))

    return edit


def larger(record: Path) -> None:
    """Every number of its tables is doubled."""
    for path in record.glob("*.csv"):
        rows = list(csv.reader(path.read_text().splitlines()))
        text = "\n".join(",".join(doubled(field) for field in row) for row in rows)
        path.write_text(f"{text}\n")


def half_the_figures(record: Path) -> None:
    """As if the present code had judged facts so: by_hand.judged() reads it here."""
    path = record / "judgement.json"
    document = json.loads(path.read_text())
    halves = {name: value and value / 2 for name, value in document["metrics"].items()}
    path.write_text(json.dumps(document | {"metrics": halves}))


def doubled(field: str) -> str:
    return str(2 * int(field)) if field.isdigit() else field


def shorter(record: Path) -> None:
    """Tables without their last row."""
    for path in record.glob("*.csv"):
        path.write_text("".join(path.read_text().splitlines(True)[:-1]))


def reordered(record: Path) -> None:
    """Tables from their end to their beginning."""
    for path in record.glob("*.csv"):
        header, *rows = path.read_text().splitlines(True)
        path.write_text("".join([header, *reversed(rows)]))


def without_a_table(record: Path) -> None:
    (record / "drops.csv").unlink()


def factors_reordered(record: Path) -> None:
    """The same factors in another order, which changes nothing that is asked."""
    document = json.loads((record / "trial.json").read_text())
    document["factors"] = dict(reversed(document["factors"].items()))
    (record / "trial.json").write_text(json.dumps(document))


# Of each, the file that is told; None: nothing that is asked is another.
FORGERIES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "a figure in run.json": (
        edited("run.json", lab={"virtual_s": 1, "source": {"measured_s": 0.5}}), "run.json"),
    "a counter in run.json": (
        edited("run.json", lab={"virtual_s": 1, "queue": {"down": {"peak_cells": 9}}}), "run.json"),
    "another lab": (edited("lab.json", source={"measured_s": 0.5}), "lab.json"),
    "larger": (larger, "flows.csv"),
    "shorter": (shorter, "flows.csv"),
    "reordered": (reordered, "flows.csv"),
    "without a table": (without_a_table, "drops.csv"),
    "a figure beside run.json's own": (edited("run.json", source={"measured_s": 0.5}), None),
    "a figure beside trial.json's own": (edited("trial.json", source={"measured_s": 0.5}), None),
    "factors reordered": (factors_reordered, None),
}  # fmt: skip
