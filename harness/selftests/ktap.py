# SPDX-License-Identifier: GPL-2.0-only
"""Results as KTAP, in the form of tools/testing/selftests/kselftest/runner.sh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from harness.selftests.choice import Test
from harness.selftests.outcome import Outcome
from harness.selftests.suite import Runs

NONE: Mapping[Test, int] = MappingProxyType({})


def lines(tests: Mapping[Test, Runs], missing: Mapping[Test, int] = NONE) -> Iterator[str]:
    """The document of one kernel by one clock.

    Args:
        missing: how many runs of a test did not end. The plan counts these tests, too.
    """
    yield "TAP version 13"
    yield f"1..{len(tests.keys() | missing.keys())}"
    for number, (test, runs) in enumerate(tests.items(), start=1):
        yield from of_test(number, test, runs)
    for test, count in missing.items():
        what = f"{count} repetitions of it" if test in tests else "it"
        yield f"# cellbed: unfinished: selftests: {test.folder}: {test.file}: {what} did not run"


def of_test(number: int, test: Test, runs: Runs) -> Iterator[str]:
    """A test: what it said, as a comment, and its verdict."""
    title = f"selftests: {test.folder}: {test.file}"
    shown = runs.failed or runs.first
    yield f"# {title}"
    yield from (f"# {line}" for line in (shown.output.splitlines()))
    yield from (f"# cellbed: {line}" for line in shown.complaint.splitlines())
    if runs.failed_number > 1:
        yield f"# cellbed: the lines above are of repetition {runs.failed_number}"
    if runs.odd_number:
        yield f"# cellbed: repetition {runs.odd_number} said something else than the first"
    passed = "not ok" if runs.verdict == "fail" else "ok"
    yield f"{passed} {number} {title}{directive(runs.verdict, shown)}"


def directive(verdict: str, outcome: Outcome) -> str:
    """What kselftest puts behind a verdict."""
    if verdict == "skip":
        return " # SKIP"
    if outcome.timed_out:
        return f" # TIMEOUT {outcome.limit_s} seconds"
    return f" # exit={outcome.status}" if verdict == "fail" and outcome.status else ""
