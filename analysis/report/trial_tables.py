# SPDX-License-Identifier: GPL-2.0-only
"""The tables of trials.

They are: all trials, those that do not count, and the checks and counters of one.
"""

import re
from collections.abc import Iterable
from itertools import chain

from analysis.omissions import NEWER
from analysis.records import CampaignRecords, FidelityCheck, Trial
from analysis.report.headings import Line, Lines, factor_column
from analysis.report.metric_words import metric_forms, metric_title
from analysis.report.model import Column, Sheet, Value
from analysis.study import NONE

KIND_OF_ERROR = re.compile(r"^[A-Z]\w*(?:Error|Exception): ")
UNITS = ("frames", "cells")
DIRECTIONS = {"down": "To the clients", "up": "To the servers"}


def trials(campaign: CampaignRecords) -> Sheet:
    """Every trial that counts: its levels, seed, metrics that some trial has, and cost."""
    metrics = dict.fromkeys(
        name for trial in campaign.trials for name, value in trial.metrics.items()
        if value is not None
    )  # fmt: skip
    forms = metric_forms(campaign)
    columns = [
        Column(name="trial", title="Trial"),
        *(factor_column(NONE, name, campaign.factors) for name in campaign.factors),
        Column(name="seed", title="Seed", form="d"),
        *(Column(name=name, title=metric_title(name), form=forms[name]) for name in metrics),
        Column(name="virtual_s", title="Virtual s", form=".1f"),
        Column(name="wall_s", title="Wall s", form=".1f"),
        Column(name="cpu_s", title="CPU s", form=".1f"),
    ]
    rows: Lines = [
        [
            trial.name,
            *(trial.factors.get(name) for name in campaign.factors),
            trial.seed,
            *(trial.metrics.get(name) for name in metrics),
            *(trial.document.get(name) for name in ("virtual_s", "wall_s", "cpu_s")),
        ]
        for trial in campaign.trials
    ]
    return Sheet(name="trials", caption="The valid trials", columns=columns, rows=rows)


def left_out(campaign: CampaignRecords) -> Sheet | None:
    """Records that do not count, and why; None when there are none."""
    rows: Lines = []
    for trial in campaign.invalid:
        failed = ", ".join(_failure(check) for check in trial.checks if not check.ok)
        rows.append([trial.name, "invalid", failed or "marked invalid"])
    rows += [[trial.name, "superseded", NEWER] for trial in campaign.superseded]
    rows += [[name, "unreadable", reason] for name, reason in campaign.unreadable]
    rows += [[name, "other", reason] for name, reason in campaign.others]
    if not rows:
        return None
    columns = [
        Column(name="trial", title="Trial"),
        Column(name="state", title="State"),
        Column(name="reason", title="Reason"),
    ]
    return Sheet(
        name="left-out", caption="Records that the report leaves out", columns=columns, rows=rows
    )


def _failure(check: FidelityCheck) -> str:
    """What a failed check found, without Python's name for the kind of an error."""
    why = KIND_OF_ERROR.sub("", check.why)
    if check.measured is None:
        return f"{check.name}: could not be measured" + (f", because {why}" if why else "")
    found = f"{check.name}: {check.measured} {check.unit}, but {check.expected} was expected"
    return found + (f" ({why})" if why else "")


def checks(trial: Trial) -> Sheet:
    """The fidelity checks of one trial."""
    columns = [
        Column(name="check", title="Check"),
        Column(name="verdict", title="Verdict"),
        Column(name="measured", title="Measured", form=",.9g"),
        Column(name="expected", title="Expected", form=",.9g"),
        Column(name="limit", title="Limit", form=",.9g"),
        Column(name="unit", title="Unit"),
    ]
    rows: Lines = [
        [
            check.name,
            "ok" if check.ok else "failed",
            *map(_plain, (check.measured, check.expected, check.limit)),
            check.unit,
        ]
        for check in trial.checks
    ]
    return Sheet(
        name=f"checks-{trial.name}",
        caption="Checks of the trial; a check is ok if measured and expected differ by at most "
        "the limit",
        columns=columns,
        rows=rows,
    )


def counters(trial: Trial) -> Sheet | None:
    """What the queues counted, frames and cells, each way; None when not recorded."""
    ways = [
        way for way in ("down", "up") if "frames" in trial.document.get("queue", {}).get(way, {})
    ]
    columns = [
        Column(name="unit", title="Unit"),
        Column(name="counter", title="Counter"),
        *(Column(name=way, title=DIRECTIONS[way], form=",d") for way in ways),
    ]
    rows: Lines = []
    for unit in UNITS:
        found = [trial.document["queue"][way].get(unit, {}) for way in ways]
        for name in dict.fromkeys(chain.from_iterable(found)):
            row: Line = [unit, name.replace("_", " "), *(counts.get(name) for counts in found)]
            rows.append(row)
    if not rows:
        return None
    return Sheet(
        name=f"queue-{trial.name}",
        caption="Counters of the queues",
        columns=columns,
        rows=rows,
        heads=2,
    )


def counted(trial: Trial) -> Iterable[str]:
    """The names of what the queues of a trial counted."""
    ways = [of for way in DIRECTIONS if (of := trial.document.get("queue", {}).get(way))]
    return chain.from_iterable(of.get(unit, {}) for of in ways for unit in UNITS)


def _plain(value: object) -> Value:
    return value if value is None or isinstance(value, (int, float, str)) else str(value)
