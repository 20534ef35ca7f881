# SPDX-License-Identifier: GPL-2.0-only
"""Runs a list of public Mininet scripts, each in a lab of its own; writes how each ended.

Usage: tests/bench/mininet/survey LIST SOURCES RESULTS [--only WORD] [--plain|--direct]
                                  [--limit S] [--again]
       tests/bench/mininet/survey LIST --page RESULTS [--then RESULTS]
       tests/bench/mininet/survey LIST --messages RESULTS [--then RESULTS]
       tests/bench/mininet/survey LIST --summary
       tests/bench/mininet/survey LIST --intervals

LIST is like survey.toml. SOURCES has a clone of each repository, named OWNER+NAME. A script runs
first without options and then, if it does not keep its promise, with those of the list. --page
prints the results as the table of docs/mininet-samples.md, with the cause that the list names.
--again runs with what a script's own table "again" corrects in the list, and --then prints these
results, too.
--messages prints what the scripts that do not pass are told at the end. --summary prints a row for
each list of LIST's folder, for docs/mininet.md. --intervals prints how many scripts of each of the
last three lists, and of all three, ran well, with the interval of Wilson. --limit is of processor
time, so that other work of the machine does not count. The attempt without options has a quarter of
it. An attempt that waits without computing ends after 20 times its limit of real time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[3]
START = "cellbed-start.sh"
MODULE = re.compile(r"path = (\S+)\s+url = (\S+)")  # of .gitmodules
NOT_RUN = "not run"
OWN = "fails as on a real machine"
SAMPLES = {
    "survey": "first", "fresh": "second", "third": "third", "fourth": "fourth", "fifth": "fifth",
    "sixth": "sixth", "seventh": "seventh", "eighth": "eighth", "ninth": "ninth", "tenth": "tenth",
    "eleventh": "eleventh", "twelfth": "twelfth", "thirteenth": "thirteenth",
}  # fmt: skip
POOLED = 3  # of the last samples
Z = 1.959964  # of an interval of 95 %
ERROR = re.compile(r".*\b\w+(?:Error|Exception): .*")
MOST_ERRORS = 5
MOST_SAID = 160
PLAIN_PART = 0.25  # of the limit: this attempt only shows whether options are needed
REAL_PER_CPU = 20  # an attempt may take so much real time for its limit of processor time
NO_END = "no end within the limit of processor time"
WAITED = f"no end within {REAL_PER_CPU} times the limit, in real time"
LOOK_S = 2.0  # between two looks at the processor time of an attempt
GRACE_S = 60.0  # for cellbed to end its lab
REASONS = re.compile(
    r"cellbed: (?!no output).*|\w+(Error|Exception): .*"
    r"|.*(not found|Connection refused|Unable to contact).*"
)


@dataclass(frozen=True, kw_only=True)
class Script:
    """One script of the list; survey.toml says what each field is."""

    theme: str
    repository: str
    commit: str
    path: str
    text: str
    promise: Sequence[str]
    words: str = ""
    start: str = ""
    input: str = ""
    options: Sequence[str] = ()
    cause: str = ""
    own_error: str = ""
    fault: str = ""
    beside: Sequence[str] = field(default_factory=tuple)
    again: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How one run ended; status None: at a limit of time."""

    status: int | None
    kept: bool
    reason: str
    host_s: float
    cpu_s: float = 0.0
    errors: Sequence[str] = ()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    parser.add_argument("sources", type=Path, nargs="?")
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--page", type=Path, help="print the table of these results")
    parser.add_argument("--then", type=Path, help="and of these, of a run with --again")
    parser.add_argument("--messages", type=Path, help="print what the failures of these are told")
    parser.add_argument("--summary", action="store_true", help="print a row for each sample")
    parser.add_argument("--intervals", action="store_true", help="print the shares' intervals")
    parser.add_argument("--again", action="store_true", help="with the list's corrections")
    parser.add_argument("--only", default="", help="scripts whose repository or path has this word")
    parser.add_argument("--limit", type=float, default=400.0, help="CPU seconds of an attempt")
    parser.add_argument("--plain", action="store_true", help="no attempt with options")
    parser.add_argument("--direct", action="store_true", help="with options only, where there are")
    given = parser.parse_args()
    if given.summary:
        return print_summary(given.list.parent)
    if given.intervals:
        return print_intervals(given.list.parent)
    scripts = read_list(given.list)
    if given.page:
        return print_page(scripts, given.page, given.then)
    if given.messages:
        return print_messages(scripts, given.messages, given.then)
    if given.again:
        scripts = [replace(script, **script.again) for script in scripts]
    if not given.results:
        parser.error("SOURCES and RESULTS are missing")
    for script in scripts:
        if given.only in f"{script.repository}/{script.path}":
            if given.direct and script.options:
                attempts: Sequence[Sequence[str]] = [script.options]
            else:
                attempts = [(), *([] if given.plain or not script.options else [script.options])]
            result = survey(script, given.sources, given.limit, attempts)
            print(json.dumps(result), flush=True)
            with given.results.open("a") as results:
                results.write(json.dumps(result) + "\n")
    return None


def read_list(path: Path) -> list[Script]:
    """The scripts of a file like survey.toml."""
    return [Script(**entry) for entry in tomllib.loads(path.read_text())["script"]]


def print_page(scripts: Sequence[Script], results: Path, then: Path | None = None) -> None:
    """How many scripts there are of each result, and a row a script."""
    first, later = last_rows(results), last_rows(then) if then else {}
    took = "cpu_s" if any("cpu_s" in row for row in first.values()) else "seconds"
    unit = "s" if took == "seconds" else "CPU s"
    columns = ["theme", "script", "result", "cause, if it does not pass", unit]
    print("Scripts by result: ", end="")
    print_counts(scripts, first)
    if then:
        print(". Scripts by result after the corrections: ", end="")
        corrected = [replace(s, **s.again) if name_of(s) in later else s for s in scripts]
        print_counts(corrected, first | later)
        columns.insert(3, "after the corrections")
    print("\n")
    print("|", " | ".join(columns), "|")
    print("|", " | ".join(["---"] * (len(columns) - 1)), "| ---: |")
    for script in scripts:
        name = name_of(script)
        row = first.get(name, {"result": NOT_RUN, "options": "", "reason": "", took: ""})
        passes = row["result"].startswith("passes")
        cause = "" if passes else script.cause or row["reason"]
        # An older row has no processor time, and its real time is another figure.
        cells = [script.theme, name, told(script, row), cause, row.get(took, "")]
        if then:
            again = replace(script, **script.again)
            cells.insert(3, told(again, later[name]) if name in later else "")
        print("|", " | ".join(map(str, cells)), "|")


def print_messages(scripts: Sequence[Script], results: Path, then: Path | None = None) -> None:
    """A row for each script that does not pass: the line of its last run that says best why."""
    rows = last_rows(results) | (last_rows(then) if then else {})
    print("| script | the first run says |\n| --- | --- |")
    for script in scripts:
        row = rows.get(name_of(script), {"result": "passes"})
        if not row["result"].startswith("passes"):
            said = row["reason"] + ("..." if len(row["reason"]) >= MOST_SAID else "")
            print("|", name_of(script), "|", said.replace("|", "\\|"), "|")


def print_summary(folder: Path) -> None:
    """A row for each sample: how its first runs ended."""
    own = OWN.replace("fails", "failed")
    heads = ["scripts that ran", "passed", own, "both together"]
    heads += ["both, with our entries corrected", "failed because of cellbed"]
    print("| sample |", " | ".join(heads), "|")
    print("| --- |", " | ".join(["---:"] * len(heads)), "|")
    for name, number in SAMPLES.items():
        ran, results, better = results_in(folder, name)
        passed, alike = sum("passes" in result for result in results), results.count(OWN)
        fault = sum(script.fault == "cellbed" for script in ran)
        link = f"[{number}](mininet-samples.md#the-{number}-sample)"
        cells = [link, len(ran), passed, alike, share(results), share(better), fault]
        print("|", " | ".join(map(str, cells)), "|")


def results_in(folder: Path, name: str) -> tuple[list[Script], list[str], list[str]]:
    """The scripts of a sample that ran, their first results, and those with corrected entries."""
    rows = last_rows(folder / f"{name}.jsonl")
    ran = [script for script in read_list(folder / f"{name}.toml") if name_of(script) in rows]
    results = [result_of(script, rows[name_of(script)]) for script in ran]
    then = folder / f"{name}-again.jsonl"
    return ran, results, entries_corrected(ran, rows, last_rows(then) if then.exists() else {})


def print_intervals(folder: Path) -> None:
    """How many scripts of the last samples ran well, with an interval of 95 %."""
    names = list(SAMPLES)[-POOLED:]
    pooled: tuple[list[str], list[str]] = ([], [])
    for name in names:
        both = results_in(folder, name)[1:]
        for all_results, results in zip(pooled, both, strict=True):
            all_results += results
        tell_intervals(SAMPLES[name], both)
    tell_intervals(f"last {POOLED} samples", pooled)


def tell_intervals(name: str, both: Sequence[Sequence[str]]) -> None:
    """A line for the first results and one for those with corrected entries."""
    for kind, results in zip(("first runs", "entries corrected"), both, strict=True):
        well = sum(map(runs_well, results))
        low, high = wilson(well, len(results))
        print(f"{name}, {kind}: {well} of {len(results)}, {share(results)}, ", end="")
        print(f"{100 * low:.0f} to {100 * high:.0f} %")


def wilson(well: int, ran: int) -> tuple[float, float]:
    """The interval of Wilson for a share of 95 % confidence."""
    middle = (well + Z * Z / 2) / (ran + Z * Z)
    half = Z * math.sqrt(well * (ran - well) / ran + Z * Z / 4) / (ran + Z * Z)
    return middle - half, middle + half


def entries_corrected(
    ran: Sequence[Script], first: Mapping[str, Any], later: Mapping[str, Any]
) -> list[str]:
    """The results, with the later run of each script whose entry was corrected. A script that
    failed because of cellbed keeps its first result: its later run had another cellbed.
    """
    results = []
    for script in ran:
        name = name_of(script)
        if name in later and script.again and script.fault != "cellbed":
            results.append(result_of(replace(script, **script.again), later[name]))
        else:
            results.append(result_of(script, first[name]))
    return results


def share(results: Sequence[str]) -> str:
    """How many of these ran as on a real machine."""
    well = sum(map(runs_well, results))
    return f"{100 * well / max(len(results), 1):.0f} %"


def runs_well(result: str) -> bool:
    """Did this script run as on a real machine?"""
    return "passes" in result or result == OWN


def last_rows(results: Path) -> dict[str, dict[str, Any]]:
    """The last result of each script, by its name."""
    return {row["script"]: row for row in map(json.loads, results.read_text().splitlines())}


def print_counts(scripts: Sequence[Script], rows: Mapping[str, Mapping[str, Any]]) -> None:
    """How many scripts there are of each result, on a line that goes on."""
    none = {"result": NOT_RUN, "reason": ""}
    results = [result_of(script, rows.get(name_of(script), none)) for script in scripts]
    counts = Counter(results).most_common()
    print("; ".join(f"{result}: {count}" for result, count in counts), end="")


def name_of(script: Script) -> str:
    """As the results call it."""
    return f"{script.repository}/{script.path}"


def told(script: Script, row: Mapping[str, Any]) -> str:
    """The result, with the options that it needed."""
    result = result_of(script, row)
    return f"{result} `{row['options']}`" if row["options"] else result


def result_of(script: Script, row: Mapping[str, Any]) -> str:
    """The result; a class of its own if the run ended with the repository's own error, which the
    list quotes and the row has. Without this evidence it stays a failure.
    """
    result, own = str(row["result"]), script.own_error
    said = [row["reason"], *row.get("errors", ())]
    failed = result != NOT_RUN and not result.startswith("passes")
    return OWN if failed and own and any(own in line for line in said) else result


def survey(
    script: Script, sources: Path, limit_s: float, attempts: Sequence[Sequence[str]]
) -> dict[str, object]:
    """The row of a script: that of the first attempt that passes, or of the last.

    Args:
        attempts: the options of each.
    """
    for options in attempts:
        part = PLAIN_PART if script.options and not options else 1.0
        attempt = run(script, sources, options, limit_s * part)
        verdict = judge(attempt)
        if verdict == "passes":
            verdict += " with option" if options else ""
            break
    return {
        "theme": script.theme,
        "script": name_of(script),
        "commit": script.commit,
        "result": verdict,
        "options": " ".join(map(shlex.quote, script.options)) if "option" in verdict else "",
        "reason": "" if verdict.startswith("passes") else attempt.reason,
        "errors": [] if verdict.startswith("passes") else attempt.errors,
        "seconds": round(attempt.host_s),
        "cpu_s": round(attempt.cpu_s),
    }


def judge(attempt: Attempt) -> str:
    """A wrong script says that all went well, and does not do what its text says."""
    if attempt.status != 0:
        return "fails"
    return "passes" if attempt.kept else "wrong"


def run(script: Script, sources: Path, options: Sequence[str], limit_s: float) -> Attempt:
    """One run in a copy of the repository."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        above = "" if script.start else str(Path(script.path).parent)
        export(sources, script.repository, script.commit, place, above)
        file = place / Path(script.path).name
        root = place
        for name, _, commit in (other.partition("@") for other in script.beside):
            export(sources, name, commit, root / name.partition("/")[2])
        if script.start:
            file = place / START
            file.write_text(f"{script.start}\n")
        build(options, place)
        words = [*options, str(file), *shlex.split(script.words)]
        return attempt(["./cellbed", "mininet", "--limit", "3000", *words], script, limit_s)


def build(options: Sequence[str], place: Path) -> None:
    """Have the image of packages, whose making is no part of an attempt. If it cannot be made, the
    attempt says why.
    """
    pairs = [list(pair) for pair in pairwise(options) if pair[0] in ("--package", "--pip")]
    if pairs:
        empty = place / "cellbed-empty.sh"
        empty.touch()
        argv = ["./cellbed", "mininet", *chain.from_iterable(pairs), str(empty)]
        subprocess.run(argv, cwd=PROJECT, stdin=subprocess.DEVNULL, check=False)


def attempt(argv: Sequence[str], script: Script, limit_s: float) -> Attempt:
    """Run the command, and judge what it says by the script's promise."""
    begin, before = time.monotonic(), os.times()
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(
            argv, cwd=PROJECT, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        real_s = REAL_PER_CPU * limit_s
        status, ended, seen_s = wait_within(process, script.input, limit_s, real_s)
        said.seek(0)
        text = said.read()
    host_s, after = time.monotonic() - begin, os.times()
    waited_s = sum(after[2:4]) - sum(before[2:4])  # it lacks killed programs that nobody waited for
    cpu_s = max(waited_s, seen_s)
    log = log_of(script)
    log.parent.mkdir(exist_ok=True)
    log.write_text(f"{shlex.join(argv)}\n{text}")
    kept = re.search(".*?".join(script.promise), text, re.DOTALL) is not None
    why = ended or reason(text, status)
    errors = errors_of(text, script.own_error)
    return Attempt(status=status, kept=kept, reason=why, host_s=host_s, cpu_s=cpu_s, errors=errors)


def wait_within(
    process: subprocess.Popen[str], text: str, limit_s: float, real_s: float,
    grace_s: float = GRACE_S,
) -> tuple[int | None, str, float]:  # fmt: skip
    """The status of a process that gets this input, or None, which limit ended it, and the
    processor time that its tree had used at the last look.

    Args:
        limit_s: of the processor time of its tree.
        real_s: of real time, for a process that waits without end.
        grace_s: from the request to end to the kill.
    """
    given: str | None = text
    end, seen_s = time.monotonic() + real_s, 0.0
    while True:
        try:
            process.communicate(given, timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            given = None  # it may be given only once
            seen_s = processor_s(process.pid)
            used = seen_s > limit_s
            if used or time.monotonic() > end:
                finish(process, grace_s)
                return None, NO_END if used else WAITED, seen_s
        else:
            return process.returncode, "", seen_s


def finish(process: subprocess.Popen[str], grace_s: float) -> None:
    """Ask a process to end, and kill it if it does not."""
    process.terminate()
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def processor_s(root: int) -> float:
    """The processor time of a process and its descendants, and of those that they waited for."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(stat.parent.name)
        parents[pid], used[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    tree = {root}
    for _ in parents:
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        if not more:
            break
        tree |= more
    return sum(used.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")


def errors_of(text: str, own: str) -> list[str]:
    """The first lines that name an exception, and the one that has the repository's own error."""
    owned = [line for line in text.splitlines() if own in line][:1] if own else []
    named = dict.fromkeys(line.strip()[:MOST_SAID] for line in ERROR.findall(text))
    return list(dict.fromkeys([*list(named)[:MOST_ERRORS], *(line.strip() for line in owned)]))


def log_of(script: Script) -> Path:
    """The file with the command of the last attempt, and all that it said."""
    name = name_of(script).replace("/", "+")
    return Path(tempfile.gettempdir()) / "cellbed-survey" / f"{name}.log"


def reason(text: str, status: int | None) -> str:
    """The line that says best why; the reader of the table improves it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if REASONS.fullmatch(line)]
    return (told or lines or [f"status {status}"])[-1][:MOST_SAID]


def export(sources: Path, repository: str, commit: str, place: Path, folder: str = "") -> None:
    """The files of a commit, or of a folder of it."""
    place.mkdir(exist_ok=True, parents=True)
    clone = sources / repository.replace("/", "+")
    tree = commit if folder in ("", ".") else f"{commit}:{folder}"
    archive = subprocess.run(
        ["git", "-C", str(clone.resolve()), "archive", tree], capture_output=True, check=False
    )
    if archive.returncode:
        sys.exit(f"{clone}: {archive.stderr.decode().strip()}; clone {repository} to this folder")
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
    if not folder or folder == ".":
        export_submodules(sources, clone, commit, place)


def export_submodules(sources: Path, clone: Path, commit: str, place: Path) -> None:
    """The files of the repositories in a repository, as far as they are in SOURCES."""
    listed = subprocess.run(
        ["git", "-C", str(clone.resolve()), "ls-tree", "-r", commit],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    modules = place / ".gitmodules"
    urls = dict(MODULE.findall(modules.read_text())) if modules.exists() else {}
    for line in listed.stdout.splitlines():
        mode, _, rest = line.split(" ", 2)
        within, path = rest.split("\t", 1)
        repository = "/".join(re.split("[:/]", urls.get(path, "").removesuffix(".git"))[-2:])
        there = "/" in repository and (sources / repository.replace("/", "+")).is_dir()
        if mode == "160000" and there:
            export(sources, repository, within, place / path)


if __name__ == "__main__":
    main()
