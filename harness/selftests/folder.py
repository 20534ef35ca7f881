# SPDX-License-Identifier: GPL-2.0-only
"""The folder of results: a KTAP document, a JSON document and the logs of each kernel and clock."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.campaign.lock import locked
from harness.host.ownership import give_tree, make_folder
from harness.selftests import ktap, nipa, summary, table
from harness.selftests.outcome import Outcome
from harness.selftests.suite import Found, Missing, Row, Runs, Task, failures
from plan.errors import UsageError

LOCK = "selftests.lock"
LOCK_TEXT = re.compile(r"(process \d+ on .*\n)?")
MARK = "selftests.json"  # of a folder with results of this command
BEGUN = "unfinished"  # of a folder whose command runs, or was killed
BEGUN_TEXT = "cellbed selftests has not "
RUNNING = f"{BEGUN_TEXT}written its results yet.\n"
ENDED = f"{BEGUN_TEXT}run all tests. The number of runs that did not end:\n"
KEPT_TEXT = '[\n {\n  "kernel": '
SUMMARY = "summary.md"
RUNS = "runs.jsonl"  # a line for each run, as they end
DIGITS = 6  # of the digest of a kernel's name
# All that this command writes into its folder.
WRITTEN = re.compile(
    r"selftests\.(json|lock)|unfinished|runs\.jsonl|summary\.md"
    r"|[^/]+/(ktap|results\.json|logs/[^/]+/(output|kernel\.log|\d+\.pcap))"
)


@contextmanager
def held(out: Path) -> Iterator[None]:
    """An empty folder for results, for this command alone.

    Raises:
        UsageError: something else is there, nothing can be written, or another command uses it.
    """
    refuse_foreign(out)
    with ExitStack() as stack:
        with writing(out):
            make_folder(out)
            stack.enter_context(locked(out, LOCK))
        make(out)
        yield


def make(out: Path) -> None:
    """An empty folder for results; what an earlier run of the command left there goes.

    Raises:
        UsageError: something else is there, or nothing can be written.
    """
    refuse_foreign(out)
    with writing(out):
        make_folder(out)
        (out / BEGUN).write_text(RUNNING)  # first: a killed command leaves a folder of its own
        for path in out.iterdir():  # the folder itself may be a link or a mount point
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name not in (BEGUN, LOCK):
                path.unlink()


def check(out: Path) -> None:
    """Refuse a folder that held() would refuse; change nothing.

    Raises:
        UsageError: it has other files, or another command uses it.
    """
    refuse_foreign(out)
    if (out / LOCK).exists():
        with writing(out), locked(out, LOCK):
            pass


def refuse_foreign(out: Path) -> None:
    """Refuse a folder with anything that this command has not written there; change nothing.

    Raises:
        UsageError: it is such a folder, or none.
    """
    with writing(out):
        if out.exists() and not out.is_dir():
            raise UsageError(f"--out {out}: this is no folder; name an empty or a new folder")
        if other := next(foreign(out), None) if out.is_dir() else None:
            raise UsageError(
                f"--out {out}: this folder has other files ({other}); name an empty or a new folder"
            )


def foreign(out: Path) -> Iterator[str]:
    """What is in a folder and was not written by this command, by its path below the folder."""
    ours = begins(out / MARK, KEPT_TEXT) or begins(out / BEGUN, BEGUN_TEXT) or has_lock(out)
    for path in out.rglob("*"):
        name = path.relative_to(out).as_posix()
        plain = path.is_dir() and not path.is_symlink()
        if not plain and not (ours and WRITTEN.fullmatch(name)):
            yield name


def begins(mark: Path, text: str) -> bool:
    """Does a file begin as this command writes it? A person may have one of the same name."""
    return mark.is_file() and mark.read_bytes().startswith(text.encode())


def has_lock(out: Path) -> bool:
    """Has this command locked the folder, and done nothing else there yet?"""
    lock = out / LOCK
    return lock.is_file() and LOCK_TEXT.fullmatch(lock.read_text(errors="replace")) is not None


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Raises UsageError if the machine refuses to read or write there."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"--out {out}: this folder cannot be written ({error.strerror or error}); name "
            "another folder"
        ) from error


def write(
    out: Path, found: Found, releases: Mapping[str, str],
    begin: datetime.datetime, end: datetime.datetime, missing: Missing | None = None,
) -> None:  # fmt: skip
    """Write all that came of the tests.

    Args:
        releases: of the kernels, by their names.
        missing: the runs that did not end.
    """
    missing = missing or {}
    kept = []
    for row in dict.fromkeys([*found, *missing]):
        tests, absent = found.get(row, {}), missing.get(row, {})
        place = out / place_of(row)
        shutil.rmtree(place, ignore_errors=True)  # with the logs of note()
        place.mkdir()
        (place / "ktap").write_text("".join(f"{line}\n" for line in ktap.lines(tests, absent)))
        document = nipa.document(row, tests, begin, end, absent)
        (place / "results.json").write_text(json.dumps(document, indent=1) + "\n")
        for test, runs in failures(tests):
            assert runs.failed is not None
            keep(place / "logs" / nipa.log_name(test), runs.failed)
        kept.append({
            "kernel": row.kernel, "release": releases[row.kernel], "clock": row.clock,
            "folder": place.name, "tests": {test.name: digests(x) for test, x in tests.items()},
            **({"unfinished": document["unfinished"]} if absent else {}),
        })  # fmt: skip
    (out / SUMMARY).write_text("".join(f"{x}\n" for x in summary.lines(found, releases, missing)))
    (out / MARK).write_text(json.dumps(kept, indent=1) + "\n")
    if missing:
        rows = (": ".join([f"{test} ({kernel}, {clock} clock)", count])
                for test, kernel, clock, count in table.unfinished(missing))  # fmt: skip
        (out / BEGUN).write_text(ENDED + "".join(f"{x}\n" for x in rows))
    else:
        (out / BEGUN).unlink(missing_ok=True)
    give_tree(out.resolve())  # it enters no link


def note(out: Path, task: Task, number: int, outcome: Outcome) -> None:
    """Write what is lost else if the command is killed: a line for a run, and the log of a failure.

    Args:
        number: of the repetition.
    """
    line = {
        "test": task.test.name, "kernel": task.row.kernel, "clock": task.row.clock,
        "repetition": number, "verdict": outcome.verdict, "status": outcome.status,
        "virtual_s": round(outcome.took_s, 2), "host_s": round(outcome.host_s, 1),
        "cpu_s": round(outcome.cpu_s, 1), "tests_in_lab": outcome.tests_in_lab,
        "load": round(os.getloadavg()[0], 1),
        "cases": dict(Counter(case.verdict for case in outcome.cases)),
        "why": outcome.left_out if outcome.verdict == "pass" else outcome.why,
    }  # fmt: skip
    with writing(out):
        with (out / RUNS).open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        place = out / place_of(task.row) / "logs" / nipa.log_name(task.test)
        if outcome.verdict == "fail" and not place.exists():
            keep(place, outcome)


def place_of(row: Row) -> str:
    """The name of a folder for a kernel and a clock, which no other kernel has.

    A kernel's name may have letters that no folder should have, as git:linux@HEAD~ and
    6.12,config=+IPV6 do. Without them, two names may be the same; their digests are not.
    """
    name = re.sub(r"[^0-9A-Za-z.]+", "-", row.kernel).strip("-.")
    if name != row.kernel:
        name += f"-{hashlib.sha256(row.kernel.encode()).hexdigest()[:DIGITS]}"
    return name if row.clock == "virtual" else f"{name}_{row.clock}"


def keep(place: Path, outcome: Outcome) -> None:
    """What one run said, and its packets."""
    place.mkdir(parents=True)
    (place / "output").write_text(outcome.output)
    if outcome.complaint:
        (place / "kernel.log").write_text(outcome.complaint + "\n")
    for name, content in outcome.packets.items():
        (place / name).write_bytes(content)


def digests(runs: Runs) -> dict[str, dict[str, int]]:
    """How often each verdict, each text, each duration and each set of packets came."""
    return {
        "verdicts": runs.verdicts, "ktap": runs.said, "seconds": runs.took, "packets": runs.sent,
    }  # fmt: skip
