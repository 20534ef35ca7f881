# SPDX-License-Identifier: GPL-2.0-only
"""A folder that holds what nobody asked for is told in a sentence, and the next one is graded."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.course import again, check, handed_in, handout
from harness.course import lab as labs
from harness.records.seal import SUMS
from plan.errors import InvalidTrialError, LabError, MissingError
from tests.course import by_hand
from tests.course.forging import FORGERIES, forge
from tests.course.handing_in import course, write_answers

ADA, GRACE = "Ada Lovelace", "Grace Hopper"
LAB = labs.names()[0]


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Ada's folder, and Grace's, which is right."""
    monkeypatch.setattr(handed_in.judgement, "judge", by_hand.judged)
    monkeypatch.setattr(again, "Experiment", by_hand.RunAgain)
    for student, name in ((ADA, "ada"), (GRACE, "grace")):
        handout.start(LAB, tmp_path / name, student)
        by_hand.write_records(LAB, tmp_path / name, student)
        write_answers(tmp_path / name, by_hand.solved(LAB, tmp_path / name))
    return tmp_path / "ada", tmp_path / "grace"


def first(folder: Path) -> Path:
    return sorted((folder / "campaign" / "trials").iterdir())[0]


def sealed(edit: Callable[[Path], None]) -> Callable[[Path], None]:
    """An edit of every record, with checksums that fit."""

    def edit_all(folder: Path) -> None:
        for record in (folder / "campaign" / "trials").iterdir():
            forge(record, edit)

    return edit_all


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def large(folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.csv").touch()
        os.truncate(folder / f"{number}.csv", 8 << 20)


def many_large(folder: Path) -> None:
    for number in range(900):
        (folder / f"{number}.pcap").touch()
        os.truncate(folder / f"{number}.pcap", 256 << 20)


def outside(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def replaced(path: Path, text: str) -> None:
    path.write_text(text)


def fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def moved_out(folder: Path) -> None:
    (folder / "campaign").rename(folder.parent / "elsewhere")
    (folder / "campaign").symlink_to(folder.parent / "elsewhere")


def many(folder: Path) -> None:
    for number in range(1000):
        (folder / "campaign" / "trials" / f"{number}").mkdir()


def deep_run(record: Path) -> None:
    text = (record / "run.json").read_text()
    replaced(record / "run.json", text.replace('"lab":{', '"lab":{' + '"a":{' * 900) + "}" * 900)


DEEP = "a" + ".a" * 5000 + " = 1\n"
STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a huge table": (lambda f: huge(first(f) / "flows.csv"), "flows.csv: larger than "),
    "large tables": (lambda f: large(first(f)), "with it more than 64 MiB of tables"),
    "many large files": (lambda f: many_large(first(f)), "pcap: with it more than 1024 MiB: "),
    "large checksums": (
        lambda f: os.truncate(first(f) / SUMS, 200 << 20), "more than 64 MiB of tables"),
    "a huge file more": (lambda f: huge(f / "campaign" / "core"), "core: larger than "),
    "huge answers": (lambda f: huge(f / "answers.toml"), "answers.toml: larger than "),
    "a link out of the folder": (
        lambda f: outside(first(f) / "flows.csv", "/etc/passwd"), "leads out of the folder"),
    "answers elsewhere": (lambda f: outside(f / "answers.toml", "/etc/passwd"), "leads out of"),
    "a circle": (lambda f: outside(f / "campaign" / "x", "x"), "leads out of the folder"),
    "a link to nothing": (lambda f: outside(f / "campaign" / "x", "y"), "leads out of the folder"),
    "a campaign elsewhere": (moved_out, "leads out of the folder"),
    "a FIFO in a record": (lambda f: fifo(first(f) / "lab.json"), "lab.json: is no file"),
    "answers that are a FIFO": (lambda f: fifo(f / "answers.toml"), "answers.toml: is no file"),
    "a folder in a record": (lambda f: (first(f) / "more").mkdir(), "more changed after the run"),
    "too many records": (many, "more than "),
    "deep TOML": (lambda f: replaced(f / "answers.toml", DEEP), "nested deeper"),
    "deep lists": (
        lambda f: replaced(f / "answers.toml", "a = " + "[" * 5000 + "]" * 5000), "nested deeper"),
    "deep JSON": (lambda f: replaced(first(f) / "lab.json", "[" * 100_000), "cannot be read"),
    "deep tables": (sealed(deep_run), "cannot be "),
    "checksums that are no text": (
        lambda f: (first(f) / SUMS).write_bytes(b"\xff\xff"), "SHA256SUMS changed after the run"),
    "checksums that are empty": (lambda f: replaced(first(f) / SUMS, ""), "changed after the run"),
    "a table of letters": (
        sealed(lambda r: replaced(r / "cwnd.csv", "time_ns,pair,cwnd_segments\nx,y,z\n")),
        "your record does not have it: "),
    "a table without rows": (
        sealed(lambda r: replaced(r / "cwnd.csv", "time_ns,pair,cwnd_segments\n")),
        "your record does not have it: "),
}  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE)
def test_the_next_folder_is_graded(two: tuple[Path, Path], strange: str) -> None:
    ada, grace = two
    edit, told = STRANGE[strange]
    edit(ada)
    printed, error = course("check", LAB, ada, grace)
    of_ada, of_grace = printed.split(f"{grace}, {LAB}")
    assert isinstance(error, InvalidTrialError), error
    assert told in of_ada and "  NO  " in of_ada
    assert "  NO  " not in of_grace and of_grace.count("  ok  ") > 5


def test_control_characters_reach_no_terminal(two: tuple[Path, Path]) -> None:
    ada, grace = two
    (first(ada) / "\x1b[2J\n  ok  record").write_text("")
    printed, _ = course("check", LAB, ada, grace)
    assert "\x1b" not in printed and "changed after the run" in printed
    assert not any(line.startswith("  ok  record;") for line in printed.splitlines())


def test_what_nobody_thought_of(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of the folder where it happened, and what it was."""
    ada, grace = two
    run_of = check.run_of

    def stand_in(name: str, lab: labs.CourseLab, folder: Path, *more: object) -> object:
        if folder == ada:
            raise ZeroDivisionError("by zero")
        return run_of(name, lab, folder, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "run_of", stand_in)
    printed, error = course("check", LAB, ada, grace)
    assert "cannot be judged: ZeroDivisionError: by zero" in printed
    assert isinstance(error, InvalidTrialError) and "1 of " in str(error)


def test_a_lab_that_fails_for_one(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are run again, and the error ends it."""
    ada, grace = two
    run = by_hand.RunAgain.run

    def stand_in(self: by_hand.RunAgain, folder: Path) -> object:
        if self.trials[0].plan.seed == handout.experiment_of(LAB, labs.load(LAB), ADA).first_seed:
            raise LabError("killed")
        return run(self, folder)

    monkeypatch.setattr(by_hand.RunAgain, "run", stand_in)
    printed, error = course("check", LAB, ada, grace, "--again")
    assert "could not be run again here: killed" in printed and "same when run again" in printed
    assert isinstance(error, InvalidTrialError)


def test_each_folder_is_printed_when_it_was_looked_at(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends it in the middle leaves the first half."""

    def stand_in(folder: Path, lab: labs.CourseLab) -> object:
        if folder.name == "grace":
            raise MissingError("no kernel")
        return read_answers(folder, lab)

    read_answers = check.read_answers
    monkeypatch.setattr(check, "read_answers", stand_in)
    printed, error = course("check", LAB, *two)
    assert isinstance(error, MissingError)
    assert f"{two[0]}, {LAB}: {ADA}" in printed and "ok  record" in printed


def test_code_in_a_folder_is_never_run(two: tuple[Path, Path]) -> None:
    ada, _ = two
    mark = f"open({str(ada.parent / 'ran')!r}, 'w')"
    for name in ("conftest.py", "tomllib.py", "sitecustomize.py", "campaign/study.py"):
        (ada / name).write_text(mark)
    cell = {"cell_type": "code", "source": mark, "metadata": {}, "outputs": []}
    (ada / "lab.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    _, error = course("check", LAB, ada, "--again")
    assert error is None and not (ada.parent / "ran").exists()


def test_the_same_factors_in_another_order(two: tuple[Path, Path]) -> None:
    ada, _ = two
    forge(first(ada), FORGERIES["factors reordered"][0])
    printed, error = course("check", LAB, ada, "--again")
    assert error is None and "the same when run again" in printed


def test_what_a_desktop_leaves_is_let_be(two: tuple[Path, Path]) -> None:
    ada, _ = two
    (ada / "notes").symlink_to("/etc")
    (first(ada) / ".DS_Store").write_text("")
    printed, error = course("check", LAB, ada)
    assert error is None, printed
