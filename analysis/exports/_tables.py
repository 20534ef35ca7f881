# SPDX-License-Identifier: GPL-2.0-only
"""All tables of a campaign, for the formats that hold tables."""

import pandas as pd

from analysis import frames
from analysis.records import CampaignRecords


def tables(campaign: CampaignRecords) -> dict[str, pd.DataFrame]:
    """Name -> table: trials, checks, and that of each NAME.csv that any trial has."""
    names = sorted({path.stem for trial in campaign.trials for path in trial.folder.glob("*.csv")})
    return {
        "trials": frames.trials(campaign),
        "checks": _texts(frames.checks(campaign)),
        **{name: frames.series(campaign, name) for name in names},
    }


def _texts(checks: pd.DataFrame) -> pd.DataFrame:
    """What a check measured may be a number or a list: as JSON has it, so as one type."""
    mixed = [name for name in ("measured", "expected", "limit") if name in checks]
    return checks.assign(**{name: checks[name].map(repr) for name in mixed})
