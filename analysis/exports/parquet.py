# SPDX-License-Identifier: GPL-2.0-only
"""Parquet: trials, checks, and every table of the trials, each line with its trial and levels."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from analysis.exports._tables import tables
from analysis.records import CampaignRecords


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """trials.parquet, checks.parquet, and NAME.parquet of each NAME.csv that any trial has."""
    written = []
    for name, frame in tables(campaign).items():
        table = pa.Table.from_pandas(frame, preserve_index=False)
        about = {**(table.schema.metadata or {}), b"cellbed": campaign.name.encode()}
        path = out / f"{name}.parquet"
        parquet.write_table(table.replace_schema_metadata(about), path)
        written.append(path)
    return written
