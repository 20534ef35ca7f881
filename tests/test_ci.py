# SPDX-License-Identifier: GPL-2.0-only
"""lab/ci/check-kernel with a program in the place of ./cellbed: what it runs and says."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.small import PROJECT

CI = PROJECT / "lab" / "ci"
WHO = ["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.org"]
# Ends each command with the status of the variable of its name.
CELLBED = """#!/bin/bash
echo "$@" >> "$SAID"
for last; do :; done
mkdir -p "$last"
case $1 in
selftests) echo "Of the tests of $4 none fails." > "$last/summary.md"; exit "$TESTED" ;;
compare) echo "kernel: $4"; echo 'kernel x: no compiler' >&2; exit "$COMPARED" ;;
esac
"""


@dataclass
class Tried:
    """What came of the script: its status, errors, summary, and the commands of cellbed."""

    status: int
    err: str
    summary: str
    commands: list[str]


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    """A repository with two commits."""
    folder = tmp_path / "linux"
    folder.mkdir()
    git(folder, "init", "-q")
    for subject in ("first", "tcp: <b>second</b>"):
        git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return folder


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), *WHO, *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def try_it(linux: Path, base: str = "HEAD^", tested: int = 0, compared: int = 0) -> Tried:
    folder = linux.parent
    program, said, out = folder / "cellbed", folder / "said", folder / "out"
    program.write_text(CELLBED)
    program.chmod(0o755)
    done = subprocess.run(
        [CI / "check-kernel", linux, base, "HEAD", out], capture_output=True, text=True,
        check=False, timeout=60,
        env={**os.environ, "CELLBED": str(program), "SAID": str(said), "TESTED": str(tested),
             "COMPARED": str(compared)},
    )  # fmt: skip
    texts = [path.read_text() if path.exists() else "" for path in (out / "summary.md", said)]
    return Tried(done.returncode, done.stderr, texts[0], texts[1].splitlines())


def test_both_commits_are_tested_and_compared(linux: Path) -> None:
    done = try_it(linux)
    before, after = (git(linux, "rev-parse", "--short=12", at) for at in ("HEAD^", "HEAD"))
    kernels = f"--kernel git:{linux}@{before},git:{linux}@{after}"
    out = linux.parent / "out"
    assert done.commands == [
        f"selftests net/packetdrill {kernels} --scripts git:{linux}@{after} --new-failures"
        f" --out {out}/selftests",
        f"compare {CI}/change.toml {kernels} --out {out}/compare",
    ]
    assert (done.status, done.err) == (0, "kernel x: no compiler\n")
    assert done.summary == (
        f"## cellbed: tcp: bsecond/b\n\n{after} against {before}.\n\n"
        f"Of the tests of {before},{after} none fails.\n"
        "### TCP\n\nNo packet of the experiment differs.\n"
    )


@pytest.mark.parametrize(
    ("tested", "compared", "status", "said"),
    [
        (5, 0, 1, "No packet of the experiment differs."),
        (0, 1, 0, "The two kernels behave differently. This alone is no fault."),
        (0, 125, 1, "**compare could not run.** Its last lines:\n\n```\nkernel x: no compil"),
        (0, 130, 130, "**compare could not run.**"),
        (125, 0, 1, "**selftests could not run.**"),
        (3, 0, 3, "**selftests could not run.**"),
    ],
)
def test_the_status_says_what_came_of_it(
    linux: Path, tested: int, compared: int, status: int, said: str
) -> None:
    done = try_it(linux, tested=tested, compared=compared)
    assert done.status == status and said in done.summary


def test_a_commit_that_is_not_there(linux: Path) -> None:
    done = try_it(linux, base="v9.9")
    assert done.status == 3 and done.commands == []
    assert f"{linux} has no commit v9.9; fetch it first" in done.err


def test_the_experiment_can_be_planned_and_the_forges_run_the_script() -> None:
    path = CI / "change.toml"
    assert len(planned(experiment.load(path), path)) == 9
    for forge in ("github.yml", "gitlab.yml"):
        [call] = re.findall(r"cellbed/lab/ci/(\S+) \S+ \S+ \S+ result$", text(forge), re.MULTILINE)
        assert call == "check-kernel"


def text(name: str) -> str:
    return (CI / name).read_text()
