# SPDX-License-Identifier: GPL-2.0-only
"""Prints results of ./cellbed selftests as the tables of docs/net-selftests.md.

Usage: tests/bench/selftests/page NAMES REASONS RUNS...
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

NOT_RUN = "not run"
RESULTS = {"pass": "passes", "fail": "fails", "skip": "skips itself"}
MOST_SAID = 90
SAYS = "it says "
HEADINGS = ["test", "result", "virtual s", "processor s", "reason"]
# By the first words of a reason. A test that skips itself without a reason says what it lacks.
CAUSES = {
    "needs": "it needs a program, a library, a driver or a card that the lab has not",
    "lab": "the lab: one processor, virtual time, or no modules",
    "kernel": "the kernel, or its tools",
    "test": "the test itself",
    "no test": "it is no test, but a helper of others",
    "too slow": "it reached the limit of the processor time, and has no verdict",
    "": "not found",
}


def main(names: Path, reasons: Path, *runs: Path) -> None:
    """Print counts by folder, counts by cause, then a row for each test."""
    tests = names.read_text().splitlines()
    causes = tomllib.loads(reasons.read_text())["reason"]
    found = last(runs)
    for text in page(tests, causes, found):
        print(text)


def last(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The last run of each test in virtual time."""
    lines = (json.loads(line) for file in files for line in file.read_text().splitlines())
    return {line["test"]: line for line in lines if line["clock"] == "virtual"}


def page(
    tests: Sequence[str], causes: Mapping[str, str], found: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """The lines of all tables.

    Args:
        tests: names of all tests.
        causes: why a test does not pass, by its name.
        found: a line of runs.jsonl, by the name of its test.
    """
    results = {test: result(found.get(test)) for test in tests}
    kinds = [*RESULTS.values(), NOT_RUN]
    yield row(["tests of", "all", *kinds])
    yield row(["---", *["---:"] * (len(kinds) + 1)])
    folders = sorted({test.rpartition("/")[0] for test in tests})
    for folder in folders:
        counted = Counter(x for test, x in results.items() if test.rpartition("/")[0] == folder)
        yield row([f"`{folder}`", counted.total(), *(counted[kind] for kind in kinds)])
    counted = Counter(results.values())
    yield row(["together", counted.total(), *(counted[kind] for kind in kinds)])
    yield ""
    yield from counted_causes({test: reason(found[test], causes.get(test, "")) for test in found},
                              results)  # fmt: skip
    yield ""
    yield row(HEADINGS)
    yield row(["---", "---", "---:", "---:", "---"])
    for test in tests:
        run = found.get(test)
        times = seconds(run) if run else ("", "")
        yield row([f"`{test}`", results[test], *times, reason(run, causes.get(test, ""))])


def counted_causes(reasons: Mapping[str, str], results: Mapping[str, str]) -> Iterator[str]:
    """How many tests fail, and how many skip themselves, for each kind of cause."""
    kinds = [RESULTS["fail"], RESULTS["skip"]]
    yield row(["cause", *kinds])
    yield row(["---", *["---:"] * len(kinds)])
    counted = Counter((cause_of(x, results[test]), results[test]) for test, x in reasons.items())
    for kind, text in CAUSES.items():
        counts = [counted[kind, one] for one in kinds]
        if any(counts):
            yield row([text, *counts])


def cause_of(reason: str, result: str) -> str:
    """Of CAUSES, the kind of a reason."""
    if result == RESULTS["skip"] and reason.startswith(SAYS):
        return "needs"
    return next((kind for kind in CAUSES if reason.startswith(kind)), "")


def result(run: Mapping[str, Any] | None) -> str:
    """In a word or two."""
    return RESULTS[run["verdict"]] if run else NOT_RUN


def seconds(run: Mapping[str, Any]) -> tuple[str, str]:
    """By the lab's clock, if the test ended before its lab, and of the processors."""
    ended = run["status"] is not None
    return (f"{run['virtual_s']:.1f}" if ended else "", f"{run['cpu_s']:.0f}")


def reason(run: Mapping[str, Any] | None, cause: str) -> str:
    """The cause that was found, or what the test said first."""
    if cause or run is None or not run["why"]:
        return cause
    said = " ".join(run["why"].split()).replace("`", "'").replace("|", "\\|")
    said = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 3]}..."
    # A test that skips itself says what it lacks.
    return f"{'cause not found; ' if run['verdict'] == 'fail' else ''}{SAYS}`{said}`"


def row(cells: Iterable[object]) -> str:
    """A row of Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
