# SPDX-License-Identifier: GPL-2.0-only
"""Results as the executors of netdev's CI (NIPA) hand them over: one JSON document a run."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from harness.selftests.choice import Test
from harness.selftests.ktap import NONE
from harness.selftests.suite import Row, Runs
from plan.complaint import first_complaint

EXECUTOR = "cellbed"
NO_WORD = re.compile("[^0-9a-zA-Z]+")


def document(
    row: Row, tests: Mapping[Test, Runs], begin: datetime.datetime, end: datetime.datetime,
    missing: Mapping[Test, int] = NONE,
) -> dict[str, Any]:  # fmt: skip
    """The results of one kernel by one clock; of repetitions the worst verdict.

    `time` is that of the lab's clock [s], `link` a file beside the document. After Ctrl-C,
    `unfinished` has the runs of each test that did not end.
    """
    unfinished = {test.name: count for test, count in missing.items()}
    return {
        "executor": EXECUTOR,
        "branch": row.kernel,
        "start": str(begin),
        "end": str(end),
        "device": {"clock": row.clock},
        **({"unfinished": unfinished} if unfinished else {}),
        "results": [result(test, runs) for test, runs in tests.items()],
    }


def result(test: Test, runs: Runs) -> dict[str, Any]:
    """A test and its cases."""
    shown = runs.failed or runs.first
    found = {
        "test": plain(test.file),
        "group": f"selftests-{plain(test.folder)}",
        "result": runs.verdict,
        "link": f"logs/{log_name(test)}/output" if runs.failed else "ktap",
        "time": round(shown.took_s, 2),
        "results": [{"test": plain(one.name), "result": one.verdict} for one in shown.cases],
    }
    first = shown.complaint.splitlines()[:1]
    if first and (shown.status is not None or first_complaint(first)):  # the lab may just hang
        found["crashes"] = first
    return found


def plain(name: str) -> str:
    """A name with nothing in it but letters, digits and dashes."""
    return NO_WORD.sub("-", name).removesuffix("-")


def log_name(test: Test) -> str:
    """The name of a test's folder of logs."""
    return test.name.replace("/", ".")
