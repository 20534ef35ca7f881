# SPDX-License-Identifier: GPL-2.0-only
"""CSV: trials, checks, and every table of the trials, each line with its trial and levels."""

from collections.abc import Sequence
from pathlib import Path

from analysis.exports._tables import tables
from analysis.records import CampaignRecords


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """trials.csv, checks.csv, and NAME.csv of each table that any trial has."""
    written = []
    for name, frame in tables(campaign).items():
        path = out / f"{name}.csv"
        frame.to_csv(path, index=False)
        written.append(path)
    return written
