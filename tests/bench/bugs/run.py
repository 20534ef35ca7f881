# SPDX-License-Identifier: GPL-2.0-only
"""Builds a kernel for each bug, and asks the bench whether it differs from the kernel without it.

Usage: see tests/bench/bugs/run.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.host import paths
from harness.kernels import names
from tests.bench.bugs import comments, patches, scripts

CELLBED = paths.PROJECT / "cellbed"
EXPERIMENT = paths.PROJECT / "lab" / "ci" / "change.toml"
BASE = "base"  # the name of the kernel that has all fixes
SEEN = ("verdicts", "ktap", "seconds", "packets")  # of selftests.json
FAILED, DIFFERS = 5, 1  # exit codes (docs/commands.md)
Result = dict[str, Any]


def main() -> None:
    """Run what has no result yet."""
    asked = arguments()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    source = names.source(scripts.BASE).tree
    made = list(comments.write(source, out / "comments"))
    found = patches.all_bugs()
    every = [(one.stem, one) for one in made] if asked.comments else [
        (one.name, one.patch) for one in found
    ]  # fmt: skip
    bugs = [(name, patch) for name, patch in every if not asked.only or name in asked.only]
    if "scripts" in asked.ways:
        scripts.lay_out(out / "tree")
        tests = sorted({test for one in found for test in one.tests})
        own = {one.name: one.tests for one in found}
        for name, patch in [(BASE, made[0]), *bugs]:
            before = known(out, name, "scripts")
            some = tests if name == BASE else each(asked.every, known(out, BASE, "scripts"))
            if wanted := missing(own.get(name, some), before):
                after = selftests(out, name, patch, wanted, asked.packetdrill)
                note(out, merged(before, after))
    if "compare" in asked.ways:
        for name, patch in bugs:
            if not known(out, name, "compare"):
                note(out, compare(out, name, patch))


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="tests/bench/bugs/run")
    parser.add_argument("--packetdrill", type=Path)
    parser.add_argument("--ways", default=["scripts", "compare"], type=lambda x: x.split(","))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--comments", action="store_true")
    parser.add_argument("--every", default=1, type=int)
    parser.add_argument("out", type=Path)
    return parser.parse_args()


def results(out: Path) -> Iterator[Result]:
    """Those that are there."""
    place = out / "results.jsonl"
    if place.exists():
        yield from map(json.loads, place.read_text().splitlines())


def known(out: Path, name: str, way: str) -> Result:
    """The last result; empty if there is none."""
    found = [one for one in results(out) if (one["name"], one["way"]) == (name, way)]
    return found[-1] if found else {}


def each(step: int, before: Result) -> list[str]:
    """Each STEPth test that a result knows, by name."""
    return sorted([*before["passed"], *before["failed"]])[::step]


def missing(tests: Sequence[str], before: Result) -> list[str]:
    """The tests or patterns that a result knows no test of."""
    tried = [*before.get("passed", []), *before.get("failed", {})]
    return [test for test in tests if not fnmatch.filter(tried, test)]


def merged(before: Result, after: Result) -> Result:
    """Both results of the same kernel."""
    if not before:
        return after
    return {**after, "passed": sorted({*before["passed"], *after["passed"]}),
            "failed": {**before["failed"], **after["failed"]},
            "seen": {**before.get("seen", {}), **after.get("seen", {})},
            "s": round(before["s"] + after["s"], 1)}  # fmt: skip


def note(out: Path, result: Result) -> None:
    """Keep a result, and say it."""
    line = json.dumps(result)
    with (out / "results.jsonl").open("a") as stream:
        stream.write(line + "\n")
    print(line, flush=True)


def selftests(
    out: Path, name: str, patch: Path, tests: Sequence[str], drill: Path | None
) -> Result:
    """The scripts that pass and that fail on a kernel with a patch."""
    place = out / "selftests" / name
    place.parent.mkdir(exist_ok=True)
    argv = [CELLBED, "selftests", *(f"net/{test}" for test in tests),
            "--kernel", f"6.12,patch={patch}", "--scripts", f"path:{out / 'tree'}",
            "--out", place, *(["--packetdrill", drill.resolve()] if drill else [])]  # fmt: skip
    _, seconds = ended(argv, (0, FAILED))
    runs = [json.loads(line) for line in (place / "runs.jsonl").read_text().splitlines()]
    verdicts = {run["test"].removeprefix("net/"): run["verdict"] for run in runs}
    failed = {run["test"].removeprefix("net/"): run["why"] for run in runs
              if run["verdict"] == "fail"}  # fmt: skip
    passed = sorted(test for test, verdict in verdicts.items() if verdict == "pass")
    return {"name": name, "way": "scripts", "passed": passed, "failed": failed, "s": seconds,
            "seen": seen(place / "selftests.json")}  # fmt: skip


def seen(place: Path) -> dict[str, list[str]]:
    """Verdict, digest of the output, virtual seconds and digest of the packets of each test."""
    tests = json.loads(place.read_text())[0]["tests"]
    return {test.removeprefix("net/"): [next(iter(of[what]), "") for what in SEEN]
            for test, of in tests.items()}  # fmt: skip


def compare(out: Path, name: str, patch: Path) -> Result:
    """In how many comparisons a kernel with a patch differs, and in which first."""
    kernel = f"6.12,patch={patch}"
    _, build_s = ended([CELLBED, "kernel", "build", kernel], (0,))
    argv = [CELLBED, "compare", EXPERIMENT, "--kernel", f"6.12,{kernel}", "--out", out / "compare"]
    done, seconds = ended(argv, (0, DIFFERS))
    said = done.stdout.splitlines()
    return {"name": name, "way": "compare", "differs": done.returncode == DIFFERS,
            "said": said[:2], "build_s": build_s, "s": seconds}  # fmt: skip


def ended(
    argv: Sequence[object], allowed: Sequence[int]
) -> tuple[subprocess.CompletedProcess[str], float]:
    """A command that has ended with one of these codes, and how long it took [s]."""
    begin = time.monotonic()
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, argv))}\nended with {done.returncode}:\n{done.stderr}")
    return done, round(time.monotonic() - begin, 1)


if __name__ == "__main__":
    main()
