# SPDX-License-Identifier: GPL-2.0-only
"""A campaign as pandas data frames, for a notebook (harness/api/campaign.py has the columns).

The frames have valid trials only, except checks(). A missing value is NaN. The levels of a factor
have the type that the experiment gives them (analysis/typed.py).
"""

from dataclasses import asdict
from typing import Any

try:
    import pandas as pd
except ImportError as error:
    missing = "data frames need pandas, which is missing; run ./cellbed setup --library"
    raise ImportError(missing) from error

from analysis.cells import cells_of
from analysis.goodput import goodput as goodput_of
from analysis.records import CampaignRecords, Trial
from analysis.typed import Levels, levels_of, typed


def trials(campaign: CampaignRecords) -> pd.DataFrame:
    """Return one row for each trial: name, levels, seed, metrics, NAME_published, times [s]."""
    known = levels_of(campaign)
    return pd.DataFrame(
        {
            **heads(trial, known),
            **trial.metrics,
            **{f"{name}_published": value for name, value in trial.published.items()},
            **{name: trial.document[name] for name in ("virtual_s", "wall_s", "cpu_s")},
        }
        for trial in campaign.trials
    )


def heads(trial: Trial, known: Levels) -> dict[str, Any]:
    """Return the columns that name a trial: trial, one for each factor, seed."""
    return {"trial": trial.name, **typed(trial.factors, known), "seed": trial.seed}


def cells(campaign: CampaignRecords, *metrics: str) -> pd.DataFrame:
    """Return one row for each cell and metric: levels, metric, mean, half_width, seeds.

    half_width: half of the mean's 95 % interval (Student's t); None with one seed.
    """
    lines, known = [], levels_of(campaign)
    for cell in cells_of(campaign.trials):
        for metric in metrics or cell.metrics:
            found = cell.estimate(metric)
            if found:
                figures = {"mean": found.mean, "half_width": found.half_width, "seeds": found.n}
                lines.append({**typed(cell.levels, known), "metric": metric, **figures})
    return pd.DataFrame(lines)


def series(campaign: CampaignRecords, name: str) -> pd.DataFrame:
    """Return the rows of NAME.csv of each trial that has this table; empty without any.

    The columns trial, one for each factor, and seed come first (docs/records.md has the others).
    """
    found, known = [], levels_of(campaign)
    for trial in campaign.trials:
        path = trial.folder / f"{name}.csv"
        if path.is_file():
            frame = pd.read_csv(path)
            for place, (column, value) in enumerate(heads(trial, known).items()):
                frame.insert(place, column, value)
            found.append(frame)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def flows(campaign: CampaignRecords) -> pd.DataFrame:
    """Return series() of the connections."""
    return series(campaign, "flows")


def requests(campaign: CampaignRecords) -> pd.DataFrame:
    """Return series() of the requests."""
    return series(campaign, "requests")


def goodput(campaign: CampaignRecords, step_s: float) -> pd.DataFrame:
    """Return one row for each pair and interval of `step_s` [s] (analysis/goodput.py).

    The columns are trial, one for each factor, seed, pair, begin_s, end_s, goodput_bit_per_s,
    source.
    """
    found, known = [], levels_of(campaign)
    for trial in campaign.trials:
        one = goodput_of(trial, step_s)
        for pair, rates in one.bit_per_s.items() if one else ():
            assert one is not None
            times = {"begin_s": one.edges_s[:-1], "end_s": one.edges_s[1:]}
            of_pair = {"pair": pair, **times, "goodput_bit_per_s": rates, "source": one.source}
            found.append(pd.DataFrame({**heads(trial, known), **of_pair}))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def checks(campaign: CampaignRecords) -> pd.DataFrame:
    """Return one row for each fidelity check of each trial, also of the invalid trials."""
    known = levels_of(campaign)
    return pd.DataFrame(
        {**heads(trial, known), **asdict(check)}
        for trial in (*campaign.trials, *campaign.invalid)
        for check in trial.checks
    )
