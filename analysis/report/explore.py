# SPDX-License-Identifier: GPL-2.0-only
"""A campaign trial by trial, for a reader who points at things: what the page's script is given."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

from analysis import plotly_js
from analysis.records import CampaignRecords, Trial
from analysis.report.metric_words import metric_title
from analysis.report.model import Explore, Plot
from analysis.report.results import Results


def explore(results: Results, drawn: Mapping[str, Sequence[Plot]]) -> Explore | None:
    """All trials that count, with the pictures of those that were drawn, by name.

    None where plotly.js is not installed, or there is no trial.
    """
    library = plotly_js.path()
    campaign = results.campaign
    if library is None or not campaign.trials:
        return None
    responses = {one.name: metric_title(one.name) for one in results.study.means}
    levels = {name: varied(campaign, name) for name in campaign.factors}
    data = {
        "factors": {name: some for name, some in levels.items() if some},
        "responses": responses,
        "trials": [of_trial(trial, responses) for trial in campaign.trials],
        "pictures": {name: [plot.picture for plot in plots] for name, plots in drawn.items()},
    }
    return Explore(data=packed(json.dumps(data).encode()), library=packed(library.read_bytes()))


def varied(campaign: CampaignRecords, factor: str) -> Sequence[str]:
    """A factor's levels, in the experiment's order; none where all trials have the same."""
    levels = campaign.levels(factor)
    return levels if len(levels) > 1 else ()


def of_trial(trial: Trial, responses: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": trial.name,
        "levels": dict(trial.factors),
        "seed": trial.seed,
        "values": {name: trial.metrics.get(name) for name in responses},
        "checks": len(trial.checks),
    }


def packed(data: bytes) -> str:
    """Compressed, as text that a page can hold; the same data is the same text."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
