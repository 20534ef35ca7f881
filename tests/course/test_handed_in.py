# SPDX-License-Identifier: GPL-2.0-only
"""Every lab handed in right, wrong, empty, edited and the neighbour's, with records made by hand.

What a run leaves is in test_labs.py; here each solution's program and the check read the same
tables, made up, in their own ways.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.course import check, handed_in, handout
from harness.course import lab as labs
from harness.errors import InvalidTrialError
from harness.flavors import check as flavors_check
from tests.course import by_hand
from tests.course.handing_in import course, items, judged_by_record, write_answers, wrong_answers

ADA, GRACE = "Ada Lovelace", "Grace Hopper"


@pytest.fixture(autouse=True)
def no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is well with every record, and the losses are repaired without a lab."""
    monkeypatch.setattr(handed_in.judgement, "judge", by_hand.judged)
    for module in (check, flavors_check):
        monkeypatch.setattr(module, "check_flavors", lambda lost: by_hand.repairs(lost))


@pytest.fixture(params=labs.names())
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A lab, given out to Ada, not run."""
    handout.start(request.param, tmp_path / "mine", ADA)
    return str(request.param)


def checked(lab: str, mine: Path) -> dict[str, str]:
    """What is said of each item, one line each; that something is not right yet ends it."""
    printed, error = course("check", lab, mine)
    said = items(printed)
    assert set(said) == {"record", *(question.key for question in labs.load(lab).question)}
    assert len(printed.splitlines()) == len(said) + 1
    all_right = all(text.startswith("ok") for text in said.values())
    assert error is None if all_right else isinstance(error, InvalidTrialError)
    return said


def unjudged(said: dict[str, str]) -> list[str]:
    return [key for key, text in said.items() if "without your own record" in text]


def test_right(lab: str, tmp_path: Path) -> None:
    by_hand.write_records(lab, tmp_path / "mine", ADA)
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    said = checked(lab, tmp_path / "mine")
    assert [text for text in said.values() if not text.startswith("ok")] == []


def test_wrong(lab: str, tmp_path: Path) -> None:
    by_hand.write_records(lab, tmp_path / "mine", ADA)
    wrong, expected = wrong_answers(lab, by_hand.solved(lab, tmp_path / "mine"))
    write_answers(tmp_path / "mine", wrong)
    said = checked(lab, tmp_path / "mine")
    assert len(expected) >= 5 and {key: said[key] for key in wrong} == expected


def test_empty(lab: str, tmp_path: Path) -> None:
    said = checked(lab, tmp_path / "mine")
    assert said.pop("record").startswith("NO the lab has not been run: ")
    assert set(said.values()) == {"NO nothing is written"}


def test_edited(lab: str, tmp_path: Path) -> None:
    last = by_hand.write_records(lab, tmp_path / "mine", ADA)[-1]
    with (last / "flows.csv").open("a") as stream:
        stream.write("9,9,9,9\n")
    write_answers(tmp_path / "mine", by_hand.solved(lab, tmp_path / "mine"))
    said = checked(lab, tmp_path / "mine")
    assert said["record"] == (
        f"NO {last.name}: flows.csv: not as recorded; remove that folder and run it again"
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
