# SPDX-License-Identifier: GPL-2.0-only
"""Analysis of cellbed's records: a library that knows their format and no study.

    from analysis import frames, read_campaign
    campaign = read_campaign("results/ubrplus-www")
    frames.trials(campaign)               # a pandas data frame, a line a trial
    frames.series(campaign, "requests")   # a line a request of every trial

It imports nothing of `studies`, `topology`, `workload` or `harness`.
"""

from analysis.records import CampaignRecords, Record, Trial, read_campaign

__all__ = ["CampaignRecords", "Record", "Trial", "read_campaign"]
