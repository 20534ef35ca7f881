# SPDX-License-Identifier: GPL-2.0-only
"""Results as Markdown, for a comment on a change: what fails now and passed before, then the rest.

Before is the first kernel, by the same clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType

from harness.selftests import table
from harness.selftests.choice import Test
from harness.selftests.suite import Found, Row, Runs, flaky

MOST = 20  # tests that are named, of each kind
NONE: Mapping[Row, Mapping[Test, int]] = MappingProxyType({})
COLUMNS = [0, 1, 2, 3, 4, 5, 7]  # of the table of counts


def lines(
    found: Found, releases: Mapping[str, str], missing: Mapping[Row, Mapping[Test, int]] = NONE
) -> Iterator[str]:
    """The document.

    Args:
        missing: the runs that did not end.
    """
    if missing:
        yield "**Unfinished: Ctrl-C ended the command. These tests have runs that did not end:**"
        yield ""
        rows = (
            (row, test, count) for row, tests in missing.items() for test, count in tests.items()
        )
        yield from cut(
            f"- `{test.name}` ({row.kernel}, {row.clock} clock): {count}"
            for row, test, count in rows
        )
        yield ""
    for (before, after), (worse, better) in changes(found).items():
        title = f"{after.kernel} against {before.kernel}, {after.clock} clock"
        yield f"### Tests of the kernel: {title}"
        yield ""
        yield from named(found[after], worse, "Tests that fail now and passed before")
        yield from named(found[before], better, "Tests that pass now and failed before")
    yield from counted(found, releases)
    if unsteady := list(table.differences(found)):
        yield "Of these tests two runs in virtual time differ:"
        yield ""
        yield from cut(f"- `{test}` ({kernel}): {what}" for test, kernel, what in unsteady)
        yield ""


def changes(found: Found) -> dict[tuple[Row, Row], tuple[list[Test], list[Test]]]:
    """Of each kernel but the first: the tests that fail since, and those that no longer do.

    A test that the first kernel's tree has not counts as one that passed.
    """
    made = {}
    for row, tests in found.items():
        first = next(one for one in found if one.clock == row.clock)
        if row != first:
            before, after = failing(first, found[first]), failing(row, tests)
            better = [test for test in before if test in tests and test not in after]
            made[first, row] = [test for test in after if test not in before], better
    return made


def failing(row: Row, tests: Mapping[Test, Runs]) -> list[Test]:
    """Those that the command calls failed."""
    return [test for test, runs in tests.items() if runs.verdict == "fail" or flaky(row, runs)]


def named(tests: Mapping[Test, Runs], chosen: list[Test], what: str) -> Iterator[str]:
    """How many tests, and what each said on the kernel on which it failed."""
    yield f"**{what}: {len(chosen)}**"
    yield ""
    yield from cut(f"- `{test.name}`: {why(tests[test])}" for test in chosen)
    if chosen:
        yield ""


def why(runs: Runs) -> str:
    """The first thing that was said of a failure, so that no word of it is markup."""
    said = runs.why or "two runs of it differ"
    return "`" + said.replace("`", "'") + "`"


def cut(texts: Iterator[str]) -> Iterator[str]:
    """The first of them, and how many are left out."""
    yield from islice(texts, MOST)
    if rest := sum(1 for _ in texts):
        yield f"- and {rest} more"


def counted(found: Found, releases: Mapping[str, str]) -> Iterator[str]:
    """The table of counts, and below it the tests that failed on the last kernel, by each clock."""
    headings = [table.HEADINGS[column] for column in COLUMNS]
    yield f"| {' | '.join(headings)} |"
    yield f"| --- | --- |{' ---: |' * (len(headings) - 2)}"
    for cells in table.rows(found, releases):
        yield f"| {' | '.join(cells[column] for column in COLUMNS)} |"
    yield ""
    last = list(found)[-1].kernel
    for row, tests in found.items():
        if row.kernel == last and (failed := failing(row, tests)):
            yield f"<details><summary>All that fail on {last}, {row.clock} clock</summary>"
            yield ""
            yield from (f"- `{test.name}`: {why(tests[test])}" for test in failed)
            yield ""
            yield "</details>"
            yield ""
