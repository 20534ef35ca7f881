# SPDX-License-Identifier: GPL-2.0-only
"""CSV: trials, checks, and every table of the trials, each line with its trial and levels."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.exports._tables import tables
from analysis.records import CampaignRecords, level_text


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """trials.csv, checks.csv, and NAME.csv of each table that any trial has."""
    written = []
    for name, frame in tables(campaign).items():
        path = out / f"{name}.csv"
        with_levels(frame, campaign).to_csv(path, index=False)
        written.append(path)
    return written


def with_levels(frame: pd.DataFrame, campaign: CampaignRecords) -> pd.DataFrame:
    """A table with the levels as all other tables of cellbed write them: true, 1, 0.5."""
    return frame.assign(**{
        name: frame[name].map(level_text, na_action="ignore")
        for name in campaign.factors
        if name in frame
    })  # fmt: skip
