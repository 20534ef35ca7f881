# SPDX-License-Identifier: GPL-2.0-only
"""Each lab can be followed by its text alone, and the check tells right answers from others.

The commands are the text's, the right answers come from the solutions' programs, which read the
tables in another way than the check does. By default the first lab; with CELLBED_SLOW_TESTS=1 all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.course import lab as labs
from harness.records.seal import SUMS, seal
from tests.course.handing_in import GOOD, SHELL, Student, judged_by_record, student, wrong_answers
from tests.small import PROJECT

pytestmark = pytest.mark.lab

SLOW = "CELLBED_SLOW_TESTS" in os.environ
LABS = labs.names() if SLOW else labs.names()[:1]


@pytest.fixture(scope="module", params=LABS)
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Student:
    """A student who has done a lab, answers and all."""
    found = student(tmp_path_factory.mktemp("course"), request.param)
    found.follow()
    assert {said for key, said in found.check(5).items() if key != "record"} == {"-- not answered"}
    found.answer(found.solved())
    return found


@pytest.fixture
def copied(one: Student, tmp_path: Path) -> Iterator[Student]:
    """The same, in a folder that a test may do anything with."""
    kept = tmp_path / "kept"
    shutil.copytree(one.folder, kept)
    yield one
    shutil.rmtree(one.folder)
    shutil.move(kept, one.folder)


def test_the_right_answers_are_right(one: Student) -> None:
    said = one.check(0)
    assert set(said) == {"record", *(q.key for q in labs.load(one.lab).question)}


def test_of_wrong_answers_nothing_is_told_but_where_to_look(copied: Student) -> None:
    wrong, expected = wrong_answers(copied.lab, copied.solved())
    copied.answer(wrong)
    said = copied.check(5)
    assert {key: said[key][: len(begin)] for key, begin in expected.items()} == expected
    assert all(text.startswith(GOOD) for key, text in said.items() if key not in wrong)


def test_an_edited_record_is_told(copied: Student) -> None:
    first = sorted((copied.folder / "campaign" / "trials").iterdir())[0]
    for name, old, new in (("flows.csv", "\n1,", "\n1,9"), ("SHA256SUMS", "flows.csv", "x.csv")):
        path = first / name
        path.write_text(path.read_text().replace(old, new))
        said = copied.check(5)["record"]
        assert said.startswith("NO") and first.name in said and "changed after the run" in said


def test_a_folder_with_another_name_is_told(copied: Student) -> None:
    """The neighbour's whole folder, with one's own name in it."""
    path = copied.folder / "answers.toml"
    path.write_text(path.read_text().replace("Ada Lovelace", "Grace Hopper"))
    said = copied.check(5)
    assert "somebody else's" in said["record"]
    unjudged = [key for key, text in said.items() if "your own record is not complete" in text]
    assert unjudged == judged_by_record(copied.lab)


def test_two_folders_of_one_student_are_told(copied: Student, tmp_path: Path) -> None:
    shutil.copytree(copied.folder, tmp_path / "other")
    number = copied.lab.partition("-")[0]
    done = copied.shell(f"./cellbed course check {number} {copied.folder} {tmp_path / 'other'}", 5)
    assert done.stdout.count("find out whose work it is") == 1 and "1 of " in done.stderr


def edit_and_seal(student: Student, name: str, old: str, new: str) -> None:
    """Edit a file of every record, with checksums that fit."""
    for path in (student.folder / "campaign" / "trials").glob(f"*/{name}"):
        path.write_text(path.read_text().replace(old, new))
        (path.parent / SUMS).unlink()
        (path.parent / "judgement.json").unlink(missing_ok=True)
        seal(path.parent)


def test_a_changed_experiment_is_told(copied: Student) -> None:
    edit_and_seal(copied, "trial.json", '"pairs": ', '"pairs": 1')
    assert "plan.topology.pairs is 1" in copied.check(5)["record"]


@pytest.mark.parametrize("one", LABS[:1], indirect=True)
def test_another_run_tells_who_made_the_checksums_fit(copied: Student) -> None:
    number = copied.lab.partition("-")[0]
    again = f"./cellbed course check {number} {copied.folder} --again"
    assert "the same when run again" in copied.shell(again).stdout
    mark, more = '"t0_ns": ', '"measured_s": 0.5, "t0_ns": '
    edit_and_seal(copied, "run.json", mark, more)
    assert (
        "run.json: the key lab.source.measured_s belongs in lab.json" in copied.check(5)["record"]
    )
    edit_and_seal(copied, "run.json", more, mark)
    edit_and_seal(copied, "drops.csv", ",lost_mid,", ",lost_first,")
    assert copied.check(0)
    assert "drops.csv: another when run again" in copied.shell(again, 5).stdout


@pytest.mark.parametrize("one", LABS[:1], indirect=True)
def test_the_course_page_shows_what_is_printed(copied: Student) -> None:
    page = (PROJECT / "course" / "README.md").read_text(encoding="utf-8")
    command, *lines = page.partition("    $ ")[2].partition("\n\n")[0].splitlines()
    copied.answer({"guess_window": "100", "path": "78", "buffer_large": "80", "why": '""'})
    said = copied.shell(command, 5).stdout.splitlines()
    assert [line for line in lines if line[4:] not in [*said, "  ..."]] == []


@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
def test_the_project_begins_as_its_page_says(tmp_path: Path) -> None:
    found = student(tmp_path, "project")
    for block in SHELL.findall((found.project / "course" / "project.md").read_text()):
        found.shell(block)
