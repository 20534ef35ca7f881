# SPDX-License-Identifier: GPL-2.0-only
"""Keeping the results of a campaign in its study's folder (analysis/kept.py has the format)."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from analysis import kept_trials
from analysis.errors import ReportError
from analysis.kept import MANIFEST, Kept, manifest
from analysis.records import CampaignRecords
from analysis.report.build import build
from analysis.report.model import Sheet
from analysis.report.pages import pages_of
from analysis.report.svg import stand_alone
from analysis.report.write import plots_of, replace_file, sheets_of, write_sheet
from analysis.study import Study
from analysis.table import read_csv
from plan.plan import Plan

SEED = "seed"
NAMES = {"every-cell": "cells", "claims": "claims", "one-draw": "one-draw"}
"""Tables of a report that are kept of every study, and their names there."""


def keep(
    campaign: CampaignRecords,
    study: Study,
    folder: Path,
    commit: str,
    *,
    planned: Mapping[kept_trials.Levels, Plan] = MappingProxyType({}),
    replace_kept: bool = False,
) -> Path:
    """Keep a campaign's results in `folder`/results; returns the campaign's own folder there.

    What is kept of the same campaign already stays: tables and verdicts are of all trials, kept
    and new.

    planned: the plans of the experiment's cells, for kept cells that were not run again.
    commit: of the project that judged it. The figures are those that `folder`/README.md links to.
    replace_kept: a new trial replaces a kept one with another plan or digest.
    Raises ReportError when a file cannot be written, and as analysis/kept_trials.py does.
    """
    target = folder / "results" / campaign.name
    file = target / kept_trials.FILE
    before = kept_trials.read(file)
    new = map(kept_trials.kept, campaign.trials)
    lines = kept_trials.merged(before, new, file, replace_kept=replace_kept)
    whole = kept_trials.with_kept(campaign, before, study, planned)
    more = len(whole.trials) > len(campaign.trials)
    earlier = [Kept(folder / "results").manifest(campaign.name)] if more else []
    document = json.dumps(manifest(whole, commit, earlier), indent=1) + "\n"
    names = {**NAMES, **{name: name for name in pages_of(study).kept}}
    report = build(whole, study, draw=False)
    shown = _shown(folder / "README.md", campaign.name)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for sheet in sheets_of(report):
            if sheet.name in names:
                path = target / f"{names[sheet.name]}.csv"
                write_sheet(path, _with_kept_seeds(sheet, path))
        for plot in plots_of(report.sections):
            if plot.name in shown:
                replace_file(target / f"{plot.name}.svg", stand_alone(plot.svg))
        replace_file(target / MANIFEST, document)
        replace_file(file, _csv(kept_trials.table(lines, whole.factors)))
    except OSError as error:
        raise ReportError(
            f"{error.filename or target} cannot be written: {error.strerror}"
        ) from None
    return target


def _with_kept_seeds(sheet: Sheet, path: Path) -> Sheet:
    """A table with a line for each seed, with the kept lines that it does not have.

    Such lines need records, and a kept trial has none. Another table stays as it is.
    """
    names = [column.name for column in sheet.columns]
    if SEED not in names or not path.exists():
        return sheet
    kept = read_csv(path)
    kept.require(*names)
    heads = names.index(SEED) + 1
    known = {tuple(map(str, row[:heads])) for row in sheet.rows}
    lines = [[row[name] for name in names] for row in kept.rows]
    before = [line for line in lines if tuple(line[:heads]) not in known]
    return replace(sheet, rows=[*before, *sheet.rows])


def _shown(readme: Path, campaign: str) -> set[str]:
    """The figures of a campaign that a page links to."""
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    return set(re.findall(rf"\(results/{re.escape(campaign)}/([\w.-]+)\.svg\)", text))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
