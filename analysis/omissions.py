# SPDX-License-Identifier: GPL-2.0-only
"""In one line: the records of a campaign's folder that no figure of it contains, and why."""

from collections.abc import Iterator

from analysis.records import CampaignRecords, FidelityCheck

MOST_NAMED = 2
UNCHANGED = "record unchanged"
MOST_REASONS = 4
NEWER = "a newer record of the same levels and seed counts"


def omissions(campaign: CampaignRecords) -> str:
    """The line; "" where nothing is left out."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out(campaign):
        by_reason.setdefault(why, []).append(name)
    if not by_reason:
        return ""
    count = sum(map(len, by_reason.values()))
    words = [f"{some(names)}: {why}" for why, names in by_reason.items()]
    if len(words) > MOST_REASONS:
        words[MOST_REASONS:] = [f"and {len(words) - MOST_REASONS} reasons more"]
    of_all = f"{count} of {count + len(campaign.trials)} records"
    return f"{campaign.folder}: left out {of_all}: {'; '.join(words)}"


def left_out(campaign: CampaignRecords) -> Iterator[tuple[str, str]]:
    """Each such record, and why."""
    for trial in campaign.invalid:
        failed = ", ".join(in_words(check) for check in trial.checks if not check.ok)
        yield trial.name, f"invalid ({failed})" if failed else "invalid"
    for trial in campaign.superseded:
        yield trial.name, NEWER
    yield from campaign.unreadable
    yield from campaign.others


def in_words(check: FidelityCheck) -> str:
    """A check that failed; of changed files, which they are."""
    files = check.why if check.name == UNCHANGED else ""
    return f"{check.name}: {files}" if files else check.name


def some(names: list[str]) -> str:
    """Names, not too many."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
