# SPDX-License-Identifier: GPL-2.0-only
"""Every lab handed in right, wrong, empty, edited and the neighbour's, with records made by hand.

What a run leaves is in test_labs.py; here each solution's program and the check read the same
tables, made up, in their own ways.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.commands.course import command
from harness.course import again, check, handed_in, handout
from harness.course import lab as labs
from harness.course.lab import Measured
from harness.flavors import check as flavors_check
from plan.errors import InvalidTrialError
from tests.course import by_hand, forging
from tests.course.handing_in import (
    GOOD,
    course,
    items,
    judged_by_record,
    write_answers,
    wrong_answers,
)

ADA, GRACE = "Ada Lovelace", "Grace Hopper"


@pytest.fixture(autouse=True)
def no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is well with every record, and the losses are repaired without a lab."""
    monkeypatch.setattr(handed_in.judgement, "judge", by_hand.judged)
    for module in (check, flavors_check):
        monkeypatch.setattr(module, "check_flavors", lambda lost, **_: by_hand.repairs(lost))


@pytest.fixture(params=labs.names())
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A lab, given out to Ada, not run."""
    handout.start(request.param, tmp_path / "mine", ADA)
    return str(request.param)


def checked(lab: str, mine: Path, *more: str) -> dict[str, str]:
    """What is said of each item, one line each; that something is not right yet ends it."""
    printed, error = course("check", lab, mine, *more)
    said = items(printed)
    assert set(said) == {"record", *(question.key for question in labs.load(lab).question)}
    assert len(printed.splitlines()) == len(said) + 2
    all_right = all(text.startswith(GOOD) for text in said.values())
    assert error is None if all_right else isinstance(error, InvalidTrialError)
    return said


def unjudged(said: dict[str, str]) -> list[str]:
    return [key for key, text in said.items() if "your own record is not complete" in text]


def test_right(lab: str, tmp_path: Path) -> None:
    by_hand.write_records(lab, tmp_path / "mine", ADA)
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    said = checked(lab, tmp_path / "mine")
    assert [text for text in said.values() if not text.startswith(GOOD)] == []
    read = {key for key, text in said.items() if text.startswith("in")}
    assert read == {one.key for one in labs.load(lab).question if not isinstance(one, Measured)}


def test_wrong(lab: str, tmp_path: Path) -> None:
    by_hand.write_records(lab, tmp_path / "mine", ADA)
    wrong, expected = wrong_answers(lab, by_hand.solved(lab, tmp_path / "mine"))
    write_answers(tmp_path / "mine", wrong)
    said = checked(lab, tmp_path / "mine")
    assert len(expected) >= 5
    assert {key: said[key][: len(begin)] for key, begin in expected.items()} == expected


def test_empty(lab: str, tmp_path: Path) -> None:
    said = checked(lab, tmp_path / "mine")
    assert said.pop("record").startswith("-- the lab has not been run: ")
    assert set(said.values()) == {"-- not answered"}


def test_a_folder_of_another_lab(lab: str, tmp_path: Path) -> None:
    other = next(name for name in labs.names() if name != lab)
    mine = tmp_path / "mine"
    printed, error = course("check", other, mine)
    said = f"NO this folder is of lab {lab}; check it with ./cellbed course check {lab} {mine}"
    assert items(printed) == {handout.ANSWERS: said} and isinstance(error, InvalidTrialError)


def test_edited(lab: str, tmp_path: Path) -> None:
    last = by_hand.write_records(lab, tmp_path / "mine", ADA)[-1]
    with (last / "flows.csv").open("a") as stream:
        stream.write("9,9,9,9\n")
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    said = checked(lab, tmp_path / "mine")
    assert said["record"] == (
        f"NO {last.name}: flows.csv changed after the run; remove that folder and run it again"
    )
    assert unjudged(said) == judged_by_record(lab)


def test_the_neighbours(lab: str, tmp_path: Path) -> None:
    by_hand.write_records(lab, tmp_path / "mine", GRACE)
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    said = checked(lab, tmp_path / "mine")
    hers, own = (
        handout.experiment_of(lab, labs.load(lab), name).first_seed for name in (GRACE, ADA)
    )
    assert said["record"] == (
        f"NO the records have seed {hers}, and yours is {own}: somebody else's; run your own"
    )
    assert unjudged(said) == judged_by_record(lab)


@pytest.mark.parametrize("forgery", forging.FORGERIES)
def test_forged_and_sealed_again(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgery: str
) -> None:
    """Whatever was forged: told, or without any effect on what is right."""
    monkeypatch.setattr(again, "Experiment", by_hand.RunAgain)
    records = by_hand.write_records(lab, tmp_path / "mine", ADA)
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    forge, told = forging.FORGERIES[forgery]
    for record in records:
        forging.forge(record, forge)
    said = checked(lab, tmp_path / "mine", "--again")
    assert said["record"].startswith("ok") == (told is None) and (told or "") in said["record"]
    assert unjudged(said) == ([] if told is None else judged_by_record(lab))


def test_answers_are_judged_by_what_was_run_again(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not by the student's record, even where nobody sees that it is another."""
    monkeypatch.setattr(again, "Experiment", by_hand.RunAgain)
    monkeypatch.setattr(again, "other_files", lambda one, other: [])
    mine = tmp_path / "mine"
    records = by_hand.write_records(lab, mine, ADA)
    right = by_hand.solved(lab, mine)
    for record in records:
        forging.forge(record, forging.larger)
        forging.half_the_figures(record)
    from_the_forged = by_hand.solved(lab, mine)
    other = {key for key, value in from_the_forged.items() if value != right[key]}
    write_answers(mine, from_the_forged)
    said = checked(lab, mine, "--again")
    assert other and {key for key in other if "not so" not in said[key]} == set()
    write_answers(mine, right)
    assert {text[:2] for text in checked(lab, mine, "--again").values()} == {"ok", "in"}


def test_no_name_of_a_folder_makes_a_line_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "mine\n  ok  record"
    folder.mkdir()
    done = CliRunner().invoke(command, ["check", "1", str(folder)])
    lines = done.output.splitlines()
    assert lines[0] == f"{tmp_path}/mine?  ok  record, 1-slow-start"
    assert not [line for line in lines if line.startswith("  ok")]
