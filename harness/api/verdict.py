# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign that was run comes to, where that is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.campaign.campaign import CampaignRun
from plan.errors import InvalidTrialError, LabError

Document = Mapping[str, Any]


def raise_failures(campaign: CampaignRun, documents: Mapping[str, Document]) -> None:
    """Nothing where every trial has a valid record.

    Raises:
        LabError: a trial has none.
        InvalidTrialError: a trial failed its checks.
    """
    missing = [t.name for t in campaign.trials if t.name not in documents]
    if missing:
        reason = (campaign.failures.get(missing[0]) or ["not run"])[-1]
        first, _, console = reason.partition("\n")
        raise LabError(f"{trials(missing)} failed; {missing[0]}: {first}", console)
    rows = [documents[t.name] for t in campaign.trials]
    invalid = [why_invalid(row) for row in rows if not row["valid"]]
    if invalid:
        raise InvalidTrialError(
            f"{trials(invalid)} {'is' if len(invalid) == 1 else 'are'} invalid:"
            f" {'; '.join(invalid[:4])}; docs/records.md says what each check means"
        )


def trials(some: Sequence[str]) -> str:
    return "1 trial" if len(some) == 1 else f"{len(some)} trials"


def why_invalid(document: Document) -> str:
    """An invalid trial and the checks that failed, with what the values of one do not say."""
    failed = [
        check["name"] + (f" ({check['why']})" if check.get("why") else "")
        for check in document["checks"]
        if not check["ok"]
    ]
    return f"{document['trial']}: {', '.join(failed)}"
