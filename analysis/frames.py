# SPDX-License-Identifier: GPL-2.0-only
"""A campaign as pandas data frames, for a notebook. Valid trials only; a missing value is NaN."""

from dataclasses import asdict

try:
    import pandas as pd
except ImportError as error:
    missing = "analysis.frames needs pandas, which ./cellbed setup --library installs"
    raise ImportError(missing) from error

from analysis.cells import cells_of
from analysis.records import CampaignRecords


def trials(campaign: CampaignRecords) -> pd.DataFrame:
    """A line a trial: its name, levels, seed, metrics, and NAME_published where there is one."""
    return pd.DataFrame(
        {
            "trial": trial.name,
            **trial.factors,
            "seed": trial.seed,
            **trial.metrics,
            **{f"{name}_published": value for name, value in trial.published.items()},
            **{name: trial.document[name] for name in ("virtual_s", "wall_s", "cpu_s")},
        }
        for trial in campaign.trials
    )


def cells(campaign: CampaignRecords, *metrics: str) -> pd.DataFrame:
    """A line a set of levels and metric [all]: mean, half-width of its 95 % interval, seeds."""
    lines = []
    for cell in cells_of(campaign.trials):
        for metric in metrics or cell.metrics:
            found = cell.estimate(metric)
            if found:
                figures = {"mean": found.mean, "half_width": found.half_width, "seeds": found.n}
                lines.append({**cell.levels, "metric": metric, **figures})
    return pd.DataFrame(lines)


def series(campaign: CampaignRecords, name: str) -> pd.DataFrame:
    """The lines of NAME.csv of every trial that has one, after its name, levels and seed.

    Names: flows, requests, queue, drops, cwnd and what else a trial recorded (docs/records.md).
    """
    found = []
    for trial in campaign.trials:
        path = trial.folder / f"{name}.csv"
        if path.is_file():
            frame = pd.read_csv(path)
            for place, (column, value) in enumerate(
                {"trial": trial.name, **trial.factors, "seed": trial.seed}.items()
            ):
                frame.insert(place, column, value)
            found.append(frame)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def flows(campaign: CampaignRecords) -> pd.DataFrame:
    """series() of the connections."""
    return series(campaign, "flows")


def requests(campaign: CampaignRecords) -> pd.DataFrame:
    """series() of the requests."""
    return series(campaign, "requests")


def checks(campaign: CampaignRecords) -> pd.DataFrame:
    """A line a fidelity check of every trial, also of the invalid ones."""
    return pd.DataFrame(
        {"trial": trial.name, **trial.factors, "seed": trial.seed, **asdict(check)}
        for trial in (*campaign.trials, *campaign.invalid)
        for check in trial.checks
    )
