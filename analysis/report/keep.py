# SPDX-License-Identifier: GPL-2.0-only
"""Keeping the results of a campaign in its study's folder (analysis/kept.py has the format)."""

import json
import re
from pathlib import Path

from analysis.errors import ReportError
from analysis.kept import MANIFEST, manifest
from analysis.records import CampaignRecords
from analysis.report.build import build
from analysis.report.pages import pages_of
from analysis.report.svg import stand_alone
from analysis.report.write import plots_of, replace_file, sheets_of, write_sheet
from analysis.study import Study

NAMES = {"every-cell": "cells", "claims": "claims"}
"""Tables of a report that are kept of every study, and their names there."""


def keep(campaign: CampaignRecords, study: Study, folder: Path, commit: str) -> Path:
    """Keep a campaign's results in `folder`/results; returns the campaign's own folder there.

    commit: of the project that judged it. The figures are those that `folder`/README.md links to.
    Raises ReportError when a file cannot be written.
    """
    target = folder / "results" / campaign.name
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    shown = set(re.findall(rf"\(results/{re.escape(campaign.name)}/([\w.-]+)\.svg\)", text))
    names = {**NAMES, **{name: name for name in pages_of(study).kept}}
    report = build(campaign, study, draw=False)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for sheet in sheets_of(report):
            if sheet.name in names:
                write_sheet(target / f"{names[sheet.name]}.csv", sheet)
        for plot in plots_of(report.sections):
            if plot.name in shown:
                replace_file(target / f"{plot.name}.svg", stand_alone(plot.svg))
        document = json.dumps(manifest(campaign, commit), indent=1) + "\n"
        replace_file(target / MANIFEST, document)
    except OSError as error:
        raise ReportError(f"{error.filename or target}: cannot write: {error.strerror}") from None
    return target
