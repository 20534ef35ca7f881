# SPDX-License-Identifier: GPL-2.0-only
"""Parquet: trials, checks, and every table of the trials, each line with its trial and levels."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from analysis import frames
from analysis.records import CampaignRecords


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """trials.parquet, checks.parquet, and NAME.parquet of each NAME.csv that any trial has."""
    names = sorted({path.stem for trial in campaign.trials for path in trial.folder.glob("*.csv")})
    tables = {"trials": frames.trials(campaign), "checks": texts(frames.checks(campaign))}
    tables |= {name: frames.series(campaign, name) for name in names}
    written = []
    for name, frame in tables.items():
        table = pa.Table.from_pandas(frame, preserve_index=False)
        about = {**(table.schema.metadata or {}), b"cellbed": campaign.name.encode()}
        path = out / f"{name}.parquet"
        parquet.write_table(table.replace_schema_metadata(about), path)
        written.append(path)
    return written


def texts(checks: pd.DataFrame) -> pd.DataFrame:
    """What a check measured may be a number or a list: as JSON has it, so as one type."""
    mixed = [name for name in ("measured", "expected", "limit") if name in checks]
    return checks.assign(**{name: checks[name].map(repr) for name in mixed})
