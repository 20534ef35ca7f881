# SPDX-License-Identifier: GPL-2.0-only
"""What the facts of a record come to: checks, metrics, the published figures beside them.

A record's judgement.json is computed from its other files and from nothing else. It carries
the version of the code that judged (a hash of this module, of the record's study, of all of the
project that they import, and of the study's published tables), and is computed anew when that is
another one, or when the facts are no longer those that were recorded. Nothing is run for it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from analysis.errors import RecordError
from analysis.files import regular
from analysis.link_metrics import link_metrics
from analysis.metrics import TrialMetrics, trial_metrics
from analysis.records import (
    JUDGEMENT,
    JUDGEMENT_FORMAT,
    Record,
    read_facts,
    read_trial,
    record_of,
)
from analysis.study import Study
from harness.judge import fidelity, links, studies
from harness.records import sources
from harness.records.seal import changed_files
from harness.records.whole import write_whole
from plan.checks import CheckResult, check
from plan.facts import SourceFacts, TrialFacts
from plan.plan import WORKLOADS

FILE = JUDGEMENT
# Of the judgement, what a person would want to know when it is another one.
TOLD = ("metrics", "published")

Document = dict[str, Any]
T = TypeVar("T")


@cache
def version(study: str | None) -> str:
    """The code that judges a study's records, as it was when this process first asked."""
    code = sources.imported_by(__name__)
    # A registry's files are found and not imported by name.
    found = sources.files("topology", "workload", "harness/captures", "harness/judge/checks")
    code |= {path for path in found if path.suffix == ".py"}
    if study is None:
        return sources.digest(code)
    code |= sources.imported_by(studies.module(study))
    return sources.digest([*code, *sources.files(f"{studies.FOLDER}/{study}/published")])


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Records that were judged: how many, which for the second time with what difference.

    Attributes:
        changes: name of a record, and what is another verdict or figure than before.
        unreadable: records whose facts cannot be read, each with one line why.
    """

    records: int = 0
    judged: int = 0
    changes: dict[str, list[str]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Each change, and all of it in one line."""
        changes = [f"{name}: {what}" for name, several in self.changes.items() for what in several]
        summary = (
            f"{self.judged} of {self.records} records judged anew; "
            f"{len(changes)} verdicts or figures changed, in {len(self.changes)} records"
        )
        return [*changes, summary]


def records(campaign: Path) -> list[Path]:
    """Folders of all records of a campaign, also of other plans and other code."""
    return sorted(path.parent for path in campaign.glob("trials/[!.]*/trial.json"))


def bring_up_to_date(folders: Sequence[Path]) -> Judged:
    """Judge those records that have no judgement by the present code of their present facts."""
    changes: dict[str, list[str]] = {}
    unreadable: dict[str, str] = {}
    judged = 0
    for folder in folders:
        try:
            before, after = known(folder), current(folder)
        except RecordError as error:
            unreadable[folder.name] = str(error)
            continue
        judged += before != after
        different = differences(before, after) if before else []
        changes |= {folder.name: different} if different else {}
    return Judged(records=len(folders), judged=judged, changes=changes, unreadable=unreadable)


def current(folder: Path) -> Document:
    """The judgement of a record by the present code, made and kept when there is none.

    Raises:
        RecordError: the record's facts cannot be read.
        OSError: it cannot be written.
    """
    before, changed = known(folder), changed_files(folder)
    record = record_of(folder, read_facts(folder))
    study = studies.find(record.plan.study)
    present = version(study.id or None)
    if before is not None and (before["judged_by"], before["changed"]) == (present, changed):
        return before
    after = {
        "format": JUDGEMENT_FORMAT,
        "judged_by": present,
        "changed": changed,
        **judge(record, study, changed),
    }
    write_whole(folder / FILE, json.dumps(after, indent=1) + "\n")
    return after


def known(folder: Path) -> Document | None:
    """The judgement that a record has, whoever made it; None when it has none that is whole."""
    try:
        document: Document = json.loads(regular(folder / FILE).read_text("utf-8"))
        differences(document, document)  # has it all that it is compared by?
        whole = {"valid", "judged_by", "changed", "expected_bytes", "responses"} <= {*document}
        return document if whole and document["format"] == JUDGEMENT_FORMAT else None
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None


def document(folder: Path) -> Document:
    """All of a record: its facts, and its judgement by the present code.

    Raises:
        RecordError: the record's facts cannot be read.
    """
    current(folder)
    return dict(read_trial(folder).document)


def judge(record: Record, study: Study, changed: Sequence[str]) -> Document:
    """Verdicts and figures of a record; what cannot be computed is a check that failed.

    Args:
        changed: files of the record that are not as they were recorded.
    """
    failed: list[CheckResult] = []
    none_judged: list[CheckResult] = []
    verdicts = attempt(
        "checks", lambda: fidelity.checks_of(record.facts, record.plan), none_judged, failed
    )
    none: Document = {"metrics": {}, "expected_bytes": []}
    figures = attempt(
        "metrics", lambda: figures_of(record, read_flows(record.folder)), none, failed
    )
    metrics = {**dict.fromkeys(one.name for one in study.means), **figures["metrics"]}
    metrics |= of_workload(record.facts) | measured(record, study, failed)
    nothing: dict[str, float] = {}
    published = attempt(
        "published figures", lambda: published_figures(record, study), nothing, failed
    )
    verdicts = [*verdicts, recorded(changed), *failed]
    return {
        "valid": all(verdict["ok"] for verdict in verdicts),
        "checks": verdicts,
        "metrics": metrics,
        "expected_bytes": figures["expected_bytes"],
        "responses": {
            **{one.name: one.short or one.title for one in study.means},
            **links.responses(record.plan.topology.layout()),
            **WORKLOADS[WORKLOADS.name_of(record.plan.workload)].Source.responses,
        },
        "published": published,
    }


def measured(record: Record, study: Study, failed: list[CheckResult]) -> Document:
    """What the study measures of a record, beside the metrics of every trial."""
    return {
        one.name: attempt(one.name, partial(one.measure, record), None, failed)
        for one in study.measured
    }


def of_workload(facts: TrialFacts) -> Document:
    """The figures that only the trial's workload has; none where the record lost its source."""
    known = facts.has("source") and facts.source.has("figures")
    return dict(facts.source.figures) if known else {}


def published_figures(record: Record, study: Study) -> dict[str, float]:
    """What the study's source has for the trial's cell."""
    found = study.published(record.factors, record.plan) if study.published else None
    return dict(found or {})


def attempt(name: str, compute: Callable[[], T], otherwise: T, failed: list[CheckResult]) -> T:
    """What `compute` gives; when it fails, `otherwise`, and a failed check that says why."""
    try:
        return compute()
    except Exception as error:  # noqa: BLE001 (one record's fault must not end a campaign)
        why = f"the record has no {error}" if isinstance(error, KeyError) else f"{error}"
        verdict = check(name, None, 0, 0, "")
        failed.append({**verdict, "why": f"{type(error).__name__}: {why}"})
        return otherwise


def recorded(changed: Sequence[str]) -> CheckResult:
    """Are the record's files those that were recorded?"""
    verdict = check("record unchanged", len(changed), 0, 0, "files")
    return {**verdict, "why": ", ".join(changed)} if changed else verdict


def read_flows(folder: Path) -> list[dict[str, str]]:
    """The rows of flows.csv."""
    with regular(folder / "flows.csv").open(newline="", encoding="ascii") as stream:
        return list(csv.DictReader(stream))


def figures_of(record: Record, rows: Sequence[Mapping[str, str]]) -> Document:
    """The trial's metrics, and each flow's max-min fair share in bytes.

    They are those of the interval that the source measured, or of the whole duration.
    """
    plan, source = record.plan, record.facts.source
    duration_s = source.measured_s if source.has("measured_s") else plan.workload.duration_s
    received = [int(row["received_bytes"]) for row in rows]
    scheduled = [int(r["scheduled_bytes"]) if r["scheduled_bytes"] else None for r in rows]
    layout, sums = plan.topology.layout(), sums_of(rows)
    if layout.named:
        several = link_metrics(
            layout, received_bytes=received, scheduled_bytes=scheduled, duration_s=duration_s
        )
        metrics = {**links.metrics_of(several), **sums, **links.of_queues(record, layout)}
        return {"metrics": metrics, **expected(several.fair_share_bit_per_s, duration_s)}
    found = trial_metrics(
        received_bytes=received,
        scheduled_bytes=scheduled,
        duration_s=float(duration_s),
        mss_bytes=plan.topology.mss_bytes,
        rate_bit_per_s=plan.topology.rate_bit_per_s,
        framing=plan.topology.framing,
    )
    whole = {key: asdict(found)[key] for key in ("efficiency", "fairness", "capacity_bit_per_s")}
    return {
        "metrics": {**whole, **sums, **from_start(source, found), **of_queue(record)},
        **expected(found.fair_share_bit_per_s, duration_s),
    }


def expected(shares_bit_per_s: Sequence[float], duration_s: float) -> Document:
    """Each flow's fair share in bytes."""
    return {"expected_bytes": [round(share * duration_s / 8) for share in shares_bit_per_s]}


def sums_of(rows: Sequence[Mapping[str, str]]) -> Document:
    """The sums of columns of flows.csv."""
    return {key: column_sum(rows, key) for key in ("retransmits", "timeouts", "answered")}


def column_sum(rows: Sequence[Mapping[str, str]], key: str) -> int | None:
    """Sum of a column, None when a value is missing."""
    values = [row.get(key, "") for row in rows]
    return sum(map(int, values)) if all(values) else None


def from_start(source: SourceFacts, found: TrialMetrics) -> dict[str, float]:
    """Efficiency with the start included, where the source measures an interval after it."""
    if not source.has("whole_s"):
        return {}
    bits = 8 * sum(source.received_whole_bytes)
    return {"efficiency_from_start": bits / source.whole_s / found.capacity_bit_per_s}


def of_queue(record: Record) -> dict[str, float | None]:
    """Figures of the downward queue, by its kind.

    Up to the end of the measured interval where the source marks one, so that what ends the
    sources is not in it.
    """
    facts = record.facts
    marks = facts.marks if facts.has("marks") else {}
    last = marks.get("end", facts.queue)["down"]
    first = marks["begin"]["down"] if "begin" in marks else None
    return record.plan.queue.down.figures(last, first)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What one judgement says otherwise than another, each in a few words."""
    return [
        f"{name}: {pairs[0]} -> {pairs[1]}"
        for name, pairs in compared(verdicts_of(before), verdicts_of(after))
    ] + [
        f"{name}{' (published)' if part == 'published' else ''}: {pairs[0]} -> {pairs[1]}"
        for part in TOLD
        for name, pairs in compared(before[part] or {}, after[part] or {})
    ]


def verdicts_of(judgement: Mapping[str, Any]) -> dict[str, str]:
    """Each check's verdict with what it measured."""
    return {
        check["name"]: f"{'ok' if check['ok'] else 'FAILED'} ({check['measured']})"
        for check in judgement["checks"]
    }


def compared(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[tuple[str, tuple[Any, Any]]]:
    """Names of which two mappings have not the same value, with both; '-' is none."""
    names = dict.fromkeys([*before, *after])
    pairs = {name: (before.get(name, "-"), after.get(name, "-")) for name in names}
    return [(name, pair) for name, pair in pairs.items() if pair[0] != pair[1]]
