# SPDX-License-Identifier: GPL-2.0-only
"""The labs' files say what the check understands; what students do wrong is one sentence."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from harness.course import handout
from harness.course import lab as labs
from harness.course.lab import Measured, WhichLevel
from harness.course.measures import MEASURES, OF_REPAIRS, TAKES
from harness.course.seeds import Draw, drawn, seed_of
from harness.design.trials import planned
from harness.flavors.check import RULES
from plan.errors import InvalidTrialError, UsageError
from tests import made_plans
from tests.course.by_hand import write_records
from tests.course.handing_in import course
from tests.small import PROJECT

ADA = "Ada Lovelace"
LABS = labs.names()


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """A student's folder, as it is given out."""
    folder = tmp_path / "mine"
    handout.start(LABS[0], folder, ADA)
    return folder


@pytest.mark.parametrize("name", LABS)
def test_a_lab_asks_for_what_there_is(name: str) -> None:
    lab = labs.load(name)
    experiment = handout.experiment_of(name, lab, ADA)
    cells = [{f: str(level) for f, level in cell.items()} for cell in experiment.cells()]
    assert planned(experiment, labs.file(name, labs.EXPERIMENT))
    for question in lab.question:
        if not isinstance(question, Measured):
            continue
        measure = dict(question.measure)
        if measure["of"] in OF_REPAIRS:
            cells_asked = [{"flavor": flavor} for flavor in RULES]
        else:
            cells_asked = cells
        where = {factor: str(level) for factor, level in measure.pop("where", {}).items()}
        inspect.signature(MEASURES[measure.pop("of")]).bind(None, **measure)
        assert measure.get("take", "count") in {*TAKES, "count"}
        found = [cell for cell in cells_asked if where.items() <= cell.items()]
        one_each = {question.factor} if isinstance(question, WhichLevel) else set()
        assert {*where, *one_each} >= {f for f in cells_asked[0] if len({c[f] for c in found}) > 1}
        assert found, question.key


@pytest.mark.parametrize("name", LABS)
def test_a_lab_has_a_text_and_a_solution(name: str) -> None:
    text = labs.file(name, labs.TEXT).read_text(encoding="utf-8")
    assert text.splitlines()[1].startswith(f"# {name.partition('-')[0]}. {labs.load(name).title}")
    assert (PROJECT / "course" / "solutions" / f"{name}.md").is_file()


def test_a_seed_is_of_a_name_and_not_of_how_it_is_typed() -> None:
    assert seed_of(ADA) == seed_of(" ada  LOVELACE ") != seed_of("Grace Hopper")
    people = {seed_of(f"student {number}") for number in range(200)}
    assert len(people) == 200 and min(people) >= 1000


def test_what_is_drawn_is_in_range_and_reaches_its_ends() -> None:
    draws = {"a.b": Draw(least=3, most=9, step=2)}
    found = {drawn(draws, "lab", seed)["a.b"] for seed in range(200)}
    assert found == {3, 5, 7, 9}


@pytest.mark.parametrize(
    ("workload", "changes", "can"),
    [
        ("packmime", {"exchanges": 10}, False),
        ("packmime", {"exchanges": 2000}, True),
        ("www", {}, True),
    ],
)
def test_a_load_that_cannot_be_made_is_not_given_out(
    workload: str, changes: dict[str, int], can: bool
) -> None:
    plan = made_plans.plan(
        {"workload": changes, "topology": {"rate_bit_per_s": 10_000_000}}, workload=workload
    )
    assert handout.has_load(plan) == can


def test_list_and_start(tmp_path: Path) -> None:
    said, error = course("list")
    assert error is None and [line.split()[0] for line in said.splitlines()] == LABS
    said, error = course("start", 1, tmp_path / "x", "--name", ADA)
    assert error is None and str(tmp_path / "x" / "text.md") in said
    before = (tmp_path / "x" / "answers.toml").read_text()
    _, error = course("start", 1, tmp_path / "x", "--name", "Grace Hopper")
    assert isinstance(error, UsageError) and "has answers already" in str(error)
    assert (tmp_path / "x" / "answers.toml").read_text() == before


@pytest.mark.parametrize("name", ["", "  ", 'a"b', "a\nb", "a\\b"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    _, error = course("start", 1, tmp_path / "x", "--name", name)
    assert isinstance(error, UsageError) and "--name" in str(error)


def test_no_such_lab_or_folder(tmp_path: Path) -> None:
    _, error = course("check", "99", tmp_path)
    assert isinstance(error, UsageError) and f"99 is no lab; the labs are {LABS[0]}" in str(error)
    _, error = course("check", 1, tmp_path / "none")
    assert isinstance(error, UsageError) and "this folder does not exist" in str(error)
    _, error = course("check", 1, tmp_path, tmp_path / ".." / tmp_path.name)
    assert isinstance(error, UsageError) and "this folder is named twice" in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is none in "),
        ("", "the file is empty"),
        ("name = [", "line 1: the list that begins in this line has no closing ]"),
        ('name = "Ada"\nanswers = 3', "answers: a table is needed"),
        ('name = "Ada"\n[answers]\nfly = 1', "answers.fly: no such question"),
    ],
)
def test_answers_that_cannot_be_read(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "answers.toml").write_text(text)
    found, error = course("check", 1, tmp_path)
    assert isinstance(error, InvalidTrialError) and "1 of 1 items" in str(error)
    assert said in found and found.count("\n") == 2


def test_half_an_answer(started: Path) -> None:
    path = started / "answers.toml"
    text = path.read_text().replace('guess_window = ""', "guess_window = 200")
    path.write_text(text.replace('why = ""', 'why = "too few words"'))
    said, _ = course("check", 1, started)
    assert "you guessed 200" in said and "3 words: in full sentences" in said


def test_a_trial_that_is_missing(started: Path) -> None:
    for path in write_records(LABS[0], started, ADA)[0].iterdir():
        path.unlink()
    said, _ = course("check", 1, started)
    assert "the trial with buffer 250 is missing: run all 3 trials" in said


def test_somebody_elses_records(started: Path) -> None:
    write_records(LABS[0], started, "Grace Hopper")
    said, _ = course("check", 1, started)
    assert f"seed {seed_of('Grace Hopper')}, and yours is {seed_of(ADA)}: somebody else's" in said


def test_a_file_that_no_checksum_covers(started: Path) -> None:
    first = write_records(LABS[0], started, ADA)[0]
    (first / "more.csv").write_text("pair\n")
    said, _ = course("check", 1, started)
    assert f"{first.name}: more.csv changed after the run" in said


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"format": "cellbed-trial/2"}'])
def test_a_record_that_cannot_be_read(started: Path, damage: str) -> None:
    (write_records(LABS[0], started, ADA)[0] / "trial.json").write_text(damage)
    said, _ = course("check", 1, started)
    assert "a record cannot be read: " in said


@pytest.mark.parametrize("level", ["1e999", "[]", "{}", "null", '"\\u0000"'])
def test_a_level_that_is_none(started: Path, level: str) -> None:
    path = write_records(LABS[0], started, ADA)[0] / "trial.json"
    before, factors, after = path.read_text().partition('"factors":{"buffer":250')
    assert factors
    path.write_text(f'{before}"factors":{{"buffer":{level}{after}')
    said, _ = course("check", 1, started)
    assert "a record cannot be read: " in said or "is missing: run all 3 trials" in said


def test_facts_that_are_not_there(started: Path) -> None:
    write_records(LABS[0], started, ADA)
    said, _ = course("check", 1, started)
    assert "is invalid: " in said and "Traceback" not in said


def test_json_is_an_item_a_line(started: Path) -> None:
    said, _ = course("check", 1, started, "--json")
    items = [json.loads(line) for line in said.splitlines()]
    keys = {"lab", "folder", "student", "name", "state", "ok", "sentence", "points", "most"}
    assert keys == set(items[0])
    assert items[0]["student"] == ADA and not items[0]["ok"]
    assert {item["state"] for item in items[1:]} == {"not answered"}
