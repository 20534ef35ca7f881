# SPDX-License-Identifier: GPL-2.0-only
"""The tables of results: a line for each kernel and clock, and one for each test that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.selftests.suite import Found, Missing, Runs, counts, failures, flaky

HEADINGS = ["kernel", "clock", "tests", "pass", "fail", "skip", "cases", "runs", "failed runs",
            "other output", "other duration", "other packets"]  # fmt: skip

KINDS = ("output", "duration", "packets")


def rows(found: Found, releases: Mapping[str, str]) -> Iterator[list[str]]:
    """Of each kernel and clock the tests by verdict, and what differs between repetitions.

    `other output` counts tests whose repetitions did not all print the same, `other duration` those
    that did not all take as long by the lab's clock, `other packets` those that did not all send
    the same at the same times. A message of packetdrill names times.
    """
    for row, tests in found.items():
        counted = counts(tests)
        runs = sum(sum(one.verdicts.values()) for one in tests.values())
        failed = sum(one.verdicts.get("fail", 0) for one in tests.values())
        repeated = runs > len(tests)
        other = [sum(what in one.other for one in tests.values()) for what in KINDS]
        yield [
            f"{row.kernel} ({releases[row.kernel]})",
            row.clock,
            str(len(tests)),
            *(str(counted[verdict]) for verdict in ("pass", "fail", "skip")),
            str(sum(len(one.first.cases) for one in tests.values())),
            str(runs),
            str(failed),
            *(str(count) if repeated else "-" for count in other),
        ]


def differences(found: Found) -> Iterator[list[str]]:
    """Each test whose repetitions differ by the virtual clock, and in what."""
    for row, tests in found.items():
        for test, runs in tests.items():
            if flaky(row, runs):
                told = ", ".join(f"{what} of run {n}" for what, n in runs.other.items())
                yield [test.name, row.kernel, told]


def reasons(found: Found) -> Iterator[list[str]]:
    """Each test that failed, by kernel and clock, the cases that did, and what was said first."""
    for row, tests in found.items():
        for test, runs in failures(tests):
            outcome = runs.failed
            assert outcome is not None
            cases = [case.name for case in outcome.cases if case.verdict == "fail"]
            yield [test.name, row.kernel, row.clock, times(runs), " ".join(cases), runs.why]


def unfinished(missing: Missing) -> Iterator[list[str]]:
    """Each test of which a run did not end, and how many of its runs."""
    for row, tests in missing.items():
        for test, count in tests.items():
            yield [test.name, row.kernel, row.clock, str(count)]


def times(runs: Runs) -> str:
    """How many of the repetitions failed."""
    return f"{runs.verdicts.get('fail', 0)} of {sum(runs.verdicts.values())}"
