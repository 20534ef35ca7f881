# SPDX-License-Identifier: GPL-2.0-only
"""A student who follows a lab's text, and a teacher who has its solution."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from harness.cli.commands.course import command
from harness.course import lab as labs
from harness.course.lab import Measured, Number
from harness.course.measures import OF_REPAIRS
from tests.small import PROJECT

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_COPIED = shutil.ignore_patterns(".*", "results", "mine", "__pycache__")
LIMIT_S = 900
GOOD = ("ok", "in")  # the marks of an item about which nothing is left to do


@dataclass(frozen=True, kw_only=True)
class Student:
    """A copy of the project, and in it the folder of one student for one lab."""

    project: Path
    lab: str

    @property
    def folder(self) -> Path:
        return self.project / "mine" / self.lab.partition("-")[0]

    def follow(self) -> str:
        """Run all commands of the lab's text but the last, which checks; what they print."""
        *blocks, last = SHELL.findall(labs.file(self.lab, labs.TEXT).read_text(encoding="utf-8"))
        assert last.startswith("./cellbed course check ")
        return "".join(self.shell(block).stdout for block in blocks)

    def shell(self, script: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", script], cwd=self.project,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        said = f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert done.returncode == status and "Traceback" not in said, said
        return done

    def check(self, status: int, folder: Path | None = None) -> dict[str, str]:
        """What `course check` says of each item: its mark, and the sentence."""
        number = self.lab.partition("-")[0]
        done = self.shell(f"./cellbed course check {number} {folder or self.folder}", status)
        return items(done.stdout)

    def solved(self) -> dict[str, str]:
        """Right answers, by the solution's program from the records, as TOML values."""
        done = subprocess.run(
            [sys.executable, "-c", solution(self.lab), self.folder], cwd=self.project, check=False,
            env={**os.environ, "PYTHONPATH": str(self.project)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return dict(line.split(" = ", 1) for line in done.stdout.splitlines())

    def answer(self, answers: dict[str, str]) -> None:
        """Write answers into answers.toml."""
        write_answers(self.folder, answers)


def course(*words: object) -> tuple[str, Exception | None]:
    """What `cellbed course WORDS` prints, in this process, and what it ends with."""
    done = CliRunner().invoke(command, [str(word) for word in words])
    error = done.exception
    assert error is None or isinstance(error, Exception)
    return done.output, error


def judged_by_record(lab: str) -> list[str]:
    """The questions whose answers nobody can judge without the student's own record."""
    return [
        question.key
        for question in labs.load(lab).question
        if isinstance(question, Measured) and question.measure["of"] not in OF_REPAIRS
    ]


def student(folder: Path, lab: str) -> Student:
    """One in a copy of the project."""
    copy = folder / "cellbed"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    return Student(project=copy, lab=lab)


def items(printed: str) -> dict[str, str]:
    """Of what `course check` prints: the mark and the sentence of each item, without the points."""
    found = [line for line in printed.splitlines()[1:] if not line.startswith("  points: ")]
    lines = [line.split(maxsplit=2) for line in found]
    return {name: f"{mark} {said}" for mark, name, said in lines}


def points(printed: str) -> str:
    """The line of the points, of what `course check` prints of one folder."""
    [found] = [line for line in printed.splitlines() if line.startswith("  points: ")]
    return found.removeprefix("  points: ")


def solution(lab: str) -> str:
    """The program that computes a lab's answers."""
    text = (PROJECT / "course" / "solutions" / f"{lab}.md").read_text(encoding="utf-8")
    [program] = PYTHON.findall(text)
    return str(program)


def write_answers(folder: Path, answers: Mapping[str, str]) -> None:
    """Write answers, as TOML values, into a folder's answers.toml."""
    path = folder / "answers.toml"
    text = path.read_text(encoding="utf-8")
    for key, value in answers.items():
        quoted = value if value.startswith('"') else f'"{value}"'
        text, times = re.subn(rf"^{key} = .*$", f"{key} = {quoted}", text, flags=re.MULTILINE)
        assert times == 1, f"{key}: not asked"
    path.write_text(text, encoding="utf-8")


def wrong_answers(lab: str, right: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """For every question that is judged an answer that is wrong, and how its line begins."""
    wrong, said = {}, {}
    for question in labs.load(lab).question:
        if isinstance(question, Measured):
            number = isinstance(question, Number)
            answer = str(1.5 * float(right[question.key]) + 1) if number else "none of them"
            wrong[question.key] = answer
            not_so, no_level = (
                f"NO {answer}: not so; {question.hint}",
                f"?? {answer}: write one of ",
            )
            said[question.key] = not_so if number else no_level
    return wrong, said
