# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign that was run comes to, where that is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.campaign.campaign import CampaignRun
from harness.events import NAME as EVENTS
from harness.runners.lab_pool import POOL
from plan.errors import InvalidTrialError, LabError

Document = Mapping[str, Any]
NOT_RUN = "no run of it has ended"
MOST_NAMED = 10


def raise_failures(campaign: CampaignRun, documents: Mapping[str, Document]) -> None:
    """Nothing where every trial has a valid record.

    Raises:
        LabError: a trial has none.
        InvalidTrialError: a trial failed its checks.
    """
    missing = [t.name for t in campaign.trials if t.name not in documents]
    if missing:
        raise without_record(campaign, missing)
    rows = [documents[t.name] for t in campaign.trials]
    invalid = [why_invalid(row) for row in rows if not row["valid"]]
    if invalid:
        raise InvalidTrialError(
            f"{trials(invalid)} {'is' if len(invalid) == 1 else 'are'} invalid:"
            f" {'; '.join(invalid[:4])}; docs/records.md says what each check means"
        )


def without_record(campaign: CampaignRun, missing: Sequence[str]) -> LabError:
    """The error of a campaign in which trials left no record.

    Its notes name the other trials, each with its reason in one line, and say how to run them.
    """
    reasons = {name: (campaign.failures.get(name) or [NOT_RUN])[-1] for name in missing}
    lines = [f"{name}: {reason.partition(chr(10))[0]}" for name, reason in reasons.items()]
    planned = len(campaign.trials)
    of_all = "" if planned == 1 else f" of {planned}"
    error = LabError(f"{len(missing)}{of_all} {noun(planned)} failed; {lines[0]}")
    for line in lines[1:MOST_NAMED]:
        error.add_note(f"    {line}")
    if len(lines) > MOST_NAMED:
        error.add_note(f"    and {len(lines) - MOST_NAMED} more")
    error.add_note(
        "    Give the same command again to run the failed trials. It keeps the finished trials. If"
        " the reason lies in the experiment, change the file first: else the trials fail again."
        f" The whole messages are in {campaign.folder / EVENTS}."
    )
    return error


def stopped(campaign: CampaignRun) -> str:
    """What is there of a campaign that a person or a signal ended, and what still runs of it."""
    done, planned = len(campaign.finished()), len(campaign.trials)
    has = f"{done} of {planned} {noun(planned)} {'has' if done == 1 else 'have'} a record"
    if campaign.options.cluster is not None:
        return f"{has} in {campaign.folder}, and the workers end its labs"
    # A second Ctrl-C may have come before the labs were gone; they end with this process.
    left = POOL.running
    ending = f"{left} {'lab ends' if left == 1 else 'labs end'} now"
    return f"{has} in {campaign.folder}, and {ending if left else 'no lab is left running'}"


def noun(number: int) -> str:
    return "trial" if number == 1 else "trials"


def trials(some: Sequence[str]) -> str:
    return f"{len(some)} {noun(len(some))}"


def why_invalid(document: Document) -> str:
    """An invalid trial and the checks that failed, with what the values of one do not say."""
    failed = [
        check["name"] + (f" ({check['why']})" if check.get("why") else "")
        for check in document["checks"]
        if not check["ok"]
    ]
    return f"{document['trial']}: {', '.join(failed)}"
