# SPDX-License-Identifier: GPL-2.0-only
"""A lab of the course: a folder of course/ with its questions in lab.toml, as data.

    course/N-NAME/
        text.md           what a student reads
        picture.svg       its picture, drawn by harness/course/pictures.py
        experiment.toml   what is run, with what is not drawn for each student
        lab.toml          what is drawn, and what is asked (CourseLab below)

An answer is compared with a measure (harness/course/measures.py) of the student's own record, so
that no number of ours is in a lab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from harness.course.seeds import Draw
from harness.design.toml_file import read_table
from harness.host.paths import PROJECT
from plan import schema
from plan.errors import UsageError
from plan.schema import Matches, Within

FOLDER = PROJECT / "course"
EXPERIMENT, QUESTIONS, TEXT, PICTURE = "experiment.toml", "lab.toml", "text.md", "picture.svg"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What all questions have: a key in answers.toml, what is asked there, and points for it."""

    key: Annotated[str, Matches(r"[a-z][a-z0-9_]*", "small letters, digits and _")]
    ask: str
    points: Annotated[int, Within(0, 100)] = 1


@dataclass(frozen=True, kw_only=True)
class Measured(Asked):
    """A question whose answer is in the student's record, or follows from the experiment.

    measure: `of`, a function of harness/course/measures.py, and its arguments; `where`: levels of
    the trial. hint: where to look, said with an answer that is wrong. An exam has neither.
    """

    measure: Mapping[str, Any] = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Number(Measured):
    """A number; within_percent: of it, what reading and rounding may make of the right one."""

    kind: Literal["number"]
    unit: str = ""
    within_percent: Annotated[float, Within(0, 25)] = 2.0


@dataclass(frozen=True, kw_only=True)
class WhichLevel(Measured):
    """The level of a factor at which a measure is the largest, or the smallest."""

    kind: Literal["level"]
    factor: str
    take: Literal["largest", "smallest"]


@dataclass(frozen=True, kw_only=True)
class Prediction(Asked):
    """A guess made before the run: it must be there for its points, and is not judged.

    of: key of the question that it is about.
    """

    kind: Literal["prediction"]
    of: str


@dataclass(frozen=True, kw_only=True)
class Sentences(Asked):
    """Sentences, for a person to read."""

    kind: Literal["words"]
    least_words: Annotated[int, Within(1)] = 12


Question = Number | WhichLevel | Prediction | Sentences
KINDS = {"number": Number, "level": WhichLevel, "prediction": Prediction, "words": Sentences}


@dataclass(frozen=True, kw_only=True)
class CourseLab:
    """lab.toml.

    draw: dotted keys of the experiment's [base], and of what each is drawn. lose: of what each
    segment is drawn that ./cellbed flavors check --lose is to lose, where the lab does that.
    exam: an answer is received and not judged; only then a question needs no measure.
    week, concept, reading: for the teacher's overview; reading: chapters of textbooks and RFCs.
    picture: the parts of its picture (harness/course/panels.py).
    """

    title: str
    minutes: Annotated[int, Within(1)]
    week: Annotated[int, Within(1)]
    concept: str
    reading: str
    picture: Sequence[str]
    exam: bool = False
    draw: Mapping[str, Draw] = field(default_factory=dict)
    lose: Sequence[Draw] = ()
    question: Sequence[Question]

    def __post_init__(self) -> None:
        keys = self.keys()
        if len(keys) < len(self.question):
            raise ValueError("question: two have one key")
        for question in self.question:
            if isinstance(question, Prediction) and question.of not in keys:
                raise ValueError(f"{question.key}: of = {question.of}: no such question")
            if isinstance(question, Measured) and not (self.exam or question.measure):
                raise ValueError(f"{question.key}: measure is missing: nothing can judge an answer")

    def keys(self) -> set[str]:
        """Of its questions, in answers.toml."""
        return {question.key for question in self.question}


def names() -> list[str]:
    """The labs that there are, in their order."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{QUESTIONS}"))


def find(name: str) -> str:
    """The name of a lab, of which its number will do.

    Raises:
        UsageError: there is no such lab; says which there are.
    """
    for known in names():
        if name in (known, known.partition("-")[0]):
            return known
    raise UsageError(f"{name} is no lab; the labs are {', '.join(names())}")


def load(name: str) -> CourseLab:
    """Read a lab's questions; UsageError with file, key and what is allowed."""
    path = FOLDER / name / QUESTIONS
    return of_table(read_table(path), path)


def of_table(table: Mapping[str, Any], path: Path) -> CourseLab:
    """A lab of what is in its file; UsageError with file, key and what is allowed."""
    try:
        readers = {Question: read_question}
        return schema.from_json(CourseLab, table, "", defaults=True, readers=readers)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def read_question(data: object, place: str) -> Question:
    """A question by its kind; TypedError."""
    name = data.get("kind") if isinstance(data, dict) else None
    kind = KINDS[schema.one_of(tuple(KINDS), name, f"{place}.kind")]
    return schema.from_json(kind, data, place, defaults=True)


def file(name: str, what: str) -> Path:
    """One of a lab's files."""
    return FOLDER / name / what
