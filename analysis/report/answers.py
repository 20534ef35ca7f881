# SPDX-License-Identifier: GPL-2.0-only
"""How long answers took, over the trials of a campaign that no study describes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from analysis.records import Record
from analysis.report.results import Results
from analysis.study import Response, Summary
from plan.plan import WORKLOADS

WORKLOADS_WITH_ANSWERS = ("www", "quic")
"""Those in which a person waits for answers; the files of quic-bulk only keep its servers busy."""
NS_PER_S = 1e9
ABOUT = (
    "The answer time of a request runs from the moment at which it was sent to the last byte of "
    "its answer. A request without a whole answer counts as a longer time than all others. A "
    "quantile that such requests reach is left out."
)


def distributions(results: Results) -> tuple[Response, ...]:
    """The answer times; none where a study says what is measured, or no trial has any."""
    asked = any(_has_answers(trial) for trial in results.trials)
    return (ANSWER_TIME,) if asked and not results.study.id else ()


def answer_times_s(trial: Record) -> Sequence[float] | None:
    """One of each request that was sent, infinite without a whole answer; None without requests."""
    rows = trial.series("requests") if _has_answers(trial) else None
    return None if rows is None else [taken_s(row) for row in rows if row["sent_ns"] is not None]


def taken_s(row: Mapping[str, float | str | None]) -> float:
    """From the sending of a request to the last byte of its answer; infinite without it."""
    begin, end = row["sent_ns"], row["last_byte_ns"]
    whole = isinstance(begin, float) and isinstance(end, float)
    return (end - begin) / NS_PER_S if whole else math.inf  # type: ignore[operator]


def _has_answers(trial: Record) -> bool:
    return WORKLOADS.name_of(trial.plan.workload) in WORKLOADS_WITH_ANSWERS


ANSWER_TIME = Response(
    name="answer_time", unit="s", of=answer_times_s, summary=Summary.DISTRIBUTION
)
