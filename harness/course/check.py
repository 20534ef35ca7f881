# SPDX-License-Identifier: GPL-2.0-only
"""What a student handed in, item by item: right, or one sentence that says what is not.

A wrong answer is told where to look, and never what would be right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.records import level_text
from harness.course import handout, plain
from harness.course import lab as labs
from harness.course.again import run_again
from harness.course.handed_in import NotHandedInError, NotRunError, finished
from harness.course.handout import ANSWERS
from harness.course.items import HandedIn, Item, State
from harness.course.lab import (
    CourseLab,
    Measured,
    Number,
    Prediction,
    Question,
    Sentences,
    WhichLevel,
)
from harness.course.measures import OF_REPAIRS, Between, Finished, Measurable, Repair, measure
from harness.course.seeds import seed_of
from harness.design.levels import same
from harness.design.toml_file import read_table
from harness.design.trials import planned
from harness.flavors.check import check_flavors
from harness.host import temporary
from harness.waiting import waiting
from plan.errors import InvalidTrialError, LabError, MissingError, UsageError

MOST_SHOWN = 40
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
# What a record, though sealed, may make of a measure.
NOT_MEASURED = (AnalysisError, ArithmeticError, LookupError, TypeError, ValueError)


class UnreadableError(Exception):
    """Why an answer cannot be read: one sentence for the student."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What answers are judged by: a student's trials, none where they do not count, and losses."""

    trials: Sequence[Finished]
    name: str
    lab: CourseLab
    student: str

    def of(self, question: Measured) -> Sequence[Measurable]:
        """What a question asks about; exact losses are run anew, once."""
        return self._repairs if question.measure["of"] in OF_REPAIRS else self.trials

    def levels(self, factor: str) -> list[str]:
        """The levels of a factor of the lab's experiment."""
        cells = handout.experiment_of(self.name, self.lab, self.student).cells()
        return list(dict.fromkeys(level_text(cell[factor]) for cell in cells))

    @cached_property
    def _repairs(self) -> Sequence[Repair]:
        lost = handout.losses(self.name, self.lab, self.student)
        with waiting("connections that lose chosen segments") as told:
            checks = check_flavors(lost=lost, told=told)
        return [Repair(flavor=one.flavor.name, outcome=one.outcome) for one in checks]


def check_folder(name: str, folder: Path, again: bool = False) -> HandedIn:
    """Look at what is in a student's folder for a lab. Nothing is written there.

    Whatever is in it, something is said of it: one folder must not end the grading of others.

    again: also run the trials here, and compare what they leave with the student's.

    Raises:
        UsageError: the lab's own files are wrong.
        MissingError: set-up has not made what running again needs.
    """
    lab = labs.load(name)
    try:
        return look_at(name, lab, folder, again)
    except MissingError:
        raise
    except NotHandedInError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 (nobody thought of what this student did)
        said = f"cannot be judged: {type(error).__name__}: {error}"
    return of_nobody(name, lab, folder, Item(name="folder", state="wrong", sentence=said))


def of_nobody(name: str, lab: CourseLab, folder: Path, item: Item) -> HandedIn:
    """A folder that does not say whose it is."""
    return HandedIn(name=name, lab=lab, folder=folder, student=None, seed=None, items=(item,))


def look_at(name: str, lab: CourseLab, folder: Path, again: bool) -> HandedIn:
    """What check_folder() returns; NotHandedInError where the folder cannot be read."""
    if said := plain.not_a_folder(folder) or plain.fault(folder):
        raise NotHandedInError(said)
    try:
        student, answers = read_answers(folder, lab)
    except (UsageError, NotHandedInError) as error:
        item = Item(name=ANSWERS, state="wrong", sentence=str(error))
        return of_nobody(name, lab, folder, item)
    with temporary.folder("again") as place:
        trials, record = run_of(name, lab, folder, student, place if again else None)
        evidence = Evidence(trials=trials, name=name, lab=lab, student=student)
        answered = [judge(question, answers, evidence) for question in lab.question]
    return HandedIn(
        name=name, lab=lab, folder=folder, student=student, seed=seed_of(student),
        items=(record, *answered),
    )  # fmt: skip


def read_answers(folder: Path, lab: CourseLab) -> tuple[str, Mapping[str, Any]]:
    """The name in answers.toml, and what is under [answers]."""
    path = folder / ANSWERS
    if not path.is_file():
        raise NotHandedInError(f"there is none in {folder}; ./cellbed course start makes one")
    table = read_table(path)
    student, answers = table.get("name"), table.get("answers", {})
    if not isinstance(student, str) or not student.strip():
        raise NotHandedInError(f"{path}: name: whose answers are they?")
    if not isinstance(answers, dict):
        raise NotHandedInError(f"{path}: answers: a table is needed")
    unknown = sorted(set(answers) - lab.keys())
    if unknown:
        for other in labs.names():
            if set(answers) <= labs.load(other).keys():
                raise NotHandedInError(
                    f"this folder is of lab {other}; check it with ./cellbed course check {other} "
                    f"{folder}"
                )
        raise NotHandedInError(f"{path}: answers.{unknown[0]}: no such question in this lab")
    return student, answers


def run_of(
    name: str, lab: CourseLab, folder: Path, student: str, again: Path | None
) -> tuple[Sequence[Finished], Item]:
    """The trials that answers are judged by, none where there is a fault; and what is to be said.

    again: where they are run anew; None: they are the student's.
    """
    experiment = handout.experiment_of(name, lab, student)
    wanted = planned(experiment, labs.file(name, labs.EXPERIMENT))
    try:
        trials: Sequence[Finished] = finished(folder, wanted)
        if again is not None:
            trials = run_again(experiment, name, trials, again)
    except NotRunError as error:
        return (), Item(name="record", state="not answered", sentence=str(error))
    except NotHandedInError as error:
        return (), Item(name="record", state="wrong", sentence=str(error))
    except (LabError, InvalidTrialError) as error:
        said = f"could not be run again here: {error}"
        return (), Item(name="record", state="wrong", sentence=said)
    said = f"{len(trials)} trials with seed {experiment.first_seed}, unchanged, all checks passed"
    said += "; the same when run again" if again else ""
    return trials, Item(name="record", state="right", sentence=said)


def judge(question: Question, answers: Mapping[str, Any], evidence: Evidence) -> Item:
    """One answer."""
    given = str(answers.get(question.key, "")).strip()
    state: State
    if not given:
        state, sentence = "not answered", "not answered"
    else:
        try:
            state, sentence = (receipt if evidence.lab.exam else verdict)(question, given, evidence)
        except UnreadableError as error:
            state, sentence = "unreadable", str(error)
        except NotHandedInError as error:
            state, sentence = "wrong", str(error)
    points = points_of(question, state, evidence.lab)
    return Item(
        name=question.key, state=state, sentence=sentence, points=points, most=question.points
    )


def points_of(question: Question, state: State, lab: CourseLab) -> int | None:
    """All points or none; None: a person or the copy of a teacher says."""
    if state == "received":
        return question.points if isinstance(question, Prediction) and not lab.exam else None
    return question.points if state == "right" else 0


def verdict(question: Question, given: str, evidence: Evidence) -> tuple[State, str]:
    """What an answer is, and a sentence about it."""
    if isinstance(question, Sentences):
        return "received", f"{count(question, given)} words, for your teacher to read"
    if isinstance(question, Prediction):
        return "received", f"you guessed {shown(given)}; compare it with your answer {question.of}"
    trials = evidence.of(question)
    if not trials:
        return "not judged", f"{shown(given)}: not judged, because your own record is not complete"
    if is_right(question, given, trials):
        return "right", f"{shown(given)}: right"
    return "wrong", f"{shown(given)}: not so; {question.hint}"


def receipt(question: Question, given: str, evidence: Evidence) -> tuple[State, str]:
    """That an answer of an exam has come and can be read, and nothing of what is right."""
    if isinstance(question, Sentences):
        return "received", f"{count(question, given)} words: received"
    if isinstance(question, Number):
        number(given)
    if isinstance(question, WhichLevel):
        one_of(given, evidence.levels(question.factor))
    return "received", f"{shown(given)}: received"


def count(question: Sentences, given: str) -> int:
    """The words of an answer; UnreadableError where they are too few."""
    words = len(given.split())
    if words < question.least_words:
        raise UnreadableError(
            f"{words} words: in full sentences, at least {question.least_words} words"
        )
    return words


def shown(given: str) -> str:
    """An answer in a sentence, at most its beginning."""
    return given if len(given) <= MOST_SHOWN else f"{given[:MOST_SHOWN]}..."


def is_right(question: Measured, given: str, trials: Sequence[Measurable]) -> bool:
    """Is an answer what the record has?"""
    if isinstance(question, WhichLevel):
        one_of(given, dict.fromkeys(trial.factors[question.factor] for trial in trials))
        return any(same(given, level) for level in extremes(question, trials))
    assert isinstance(question, Number)
    found = one_value(question.measure, trials)
    least, most = found if isinstance(found, Between) else (found, found)
    part = question.within_percent / 100
    return least - abs(least) * part <= number(given) <= most + abs(most) * part


def one_of(given: str, levels: Collection[str]) -> None:
    """UnreadableError where an answer is no level, as 4000 cells is none."""
    if not any(same(given, level) for level in levels):
        raise UnreadableError(f"{shown(given)}: write one of {', '.join(levels)}")


def number(given: str) -> float:
    """An answer as a number, with a comma or a point.

    UnreadableError where it is none, is not finite, or may have a comma between its thousands.
    """
    if THOUSANDS.fullmatch(given):
        raise UnreadableError(
            f"{shown(given)}: write the number without a comma; a point begins the decimals"
        )
    try:
        found = float(given.replace(",", "."))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UnreadableError(f"{shown(given)}: a number is needed, without its unit")
    return found


def one_value(wanted: Mapping[str, Any], trials: Sequence[Measurable]) -> float | Between:
    """A measure of the trial that its `where` names."""
    where = {factor: level_text(level) for factor, level in wanted.get("where", {}).items()}
    [trial] = [one for one in trials if where.items() <= one.factors.items()]
    return value(trial, wanted)


def extremes(question: WhichLevel, trials: Sequence[Measurable]) -> list[str]:
    """The levels at which a measure is the largest, or the smallest, of the trials of `where`."""
    where = {f: level_text(level) for f, level in question.measure.get("where", {}).items()}
    values = {
        one.factors[question.factor]: single(value(one, question.measure))
        for one in trials
        if where.items() <= one.factors.items()
    }
    best = (max if question.take == "largest" else min)(values.values())
    return [level for level, found in values.items() if found == best]


def single(found: float | Between) -> float:
    """A number to compare levels by; NotHandedInError where the record leaves two."""
    if isinstance(found, Between):
        raise NotHandedInError(
            "this question compares levels by two numbers each: tell your teacher"
        )
    return found


def value(trial: Measurable, wanted: Mapping[str, Any]) -> float | Between:
    """A measure of a trial; NotHandedInError where its record does not have it."""
    try:
        return measure(trial, wanted)
    except NOT_MEASURED as error:
        raise NotHandedInError(f"your record does not have it: {error}") from error
