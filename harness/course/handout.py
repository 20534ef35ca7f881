# SPDX-License-Identifier: GPL-2.0-only
"""What a student begins with: a folder with the text, an experiment of his own, empty answers.

text.md, experiment.toml    copies of the lab's; an exam's text explains no verdicts
picture.svg                 the lab's picture, with the student's own numbers
mine.toml                   extends it by the student's seed and what is drawn with it
losses                      segments to be lost, where the lab has exact losses
answers.toml                the name, and a line for each answer
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from harness.course import lab as labs
from harness.course import pictures
from harness.course.exam import without_verdicts
from harness.course.lab import EXPERIMENT, PICTURE, TEXT, CourseLab
from harness.course.seeds import drawn, seed_of, tables
from harness.design.experiment import Design, extend, validated, with_dotted_factors
from harness.design.toml_file import read_file
from harness.design.trials import planned
from harness.host import temporary
from harness.labs import shared
from plan.errors import LabError, UsageError
from plan.plan import Plan

MINE, ANSWERS, CAMPAIGN, LOSSES = "mine.toml", "answers.toml", "campaign", "losses"
WIDTH = 90


def start(name: str, folder: Path, student: str) -> None:
    """Make a student's folder for a lab.

    Raises:
        UsageError: it has answers already, or there is no name.
    """
    if not student.strip() or not student.isprintable() or set(student) & {'"', "\\"}:
        raise UsageError(
            f"--name {student!r}: write the student's name in one line, without quotes and"
            " backslashes"
        )
    if (folder / ANSWERS).exists():
        raise UsageError(f"{folder}: has answers already; nothing was changed")
    lab = labs.load(name)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(labs.file(name, EXPERIMENT), folder / EXPERIMENT)
    text = labs.file(name, TEXT).read_text(encoding="utf-8")
    (folder / TEXT).write_text(without_verdicts(text) if lab.exam else text, encoding="utf-8")
    (folder / MINE).write_text(experiment_text(name, lab, student), encoding="utf-8")
    lost = losses(name, lab, student)
    if lab.lose:
        (folder / LOSSES).write_text(",".join(map(str, lost)) + "\n")
    own = planned(experiment_of(name, lab, student), labs.file(name, EXPERIMENT))
    picture = pictures.of_student(lab, [trial.plan for trial in own], lost)
    (folder / PICTURE).write_text(picture.svg, encoding="utf-8")
    (folder / ANSWERS).write_text("\n".join(answer_lines(lab, student)) + "\n", encoding="utf-8")


def own_keys(name: str, lab: CourseLab, student: str) -> dict[str, Any]:
    """What a student's experiment has that the lab's has not: dotted keys and values."""
    values = drawn(lab.draw, name, seed_of(student))
    seed = experiment_of(name, lab, student).first_seed
    return {"first_seed": seed} | {f"base.{key}": value for key, value in values.items()}


def losses(name: str, lab: CourseLab, student: str) -> list[int]:
    """The segments that a student's exact losses are of."""
    draws = {f"lose {place}": draw for place, draw in enumerate(lab.lose)}
    return sorted(drawn(draws, name, seed_of(student)).values())


def experiment_of(name: str, lab: CourseLab, student: str) -> Design:
    """The experiment that a student is to run, from the course's own files.

    Its seed is that of the name, or the next for which there is a load.
    """
    path = labs.file(name, EXPERIMENT)
    seed = seed_of(student)
    keys = {f"base.{key}": value for key, value in drawn(lab.draw, name, seed).items()}
    table = extend(with_dotted_factors(read_file(path)).table, tables(keys))
    for usable in count(seed):
        experiment = validated(path, {**table, "first_seed": usable})
        if has_load(planned(experiment, path)[0].plan):
            return experiment
    raise AssertionError("count() ends")


def has_load(plan: Plan) -> bool:
    """Can a trial's load be made? Of few requests with heavy tails not with every seed."""
    with temporary.folder("load") as folder:
        try:
            shared.prepare(plan, folder)
        except LabError:
            return False
    return True


def experiment_text(name: str, lab: CourseLab, student: str) -> str:
    """mine.toml."""
    keys = (f"{key} = {value}\n" for key, value in own_keys(name, lab, student).items())
    return f'# {lab.title}: {student}\'s\nextends = "{EXPERIMENT}"\n{"".join(keys)}'


def answer_lines(lab: CourseLab, student: str) -> Iterator[str]:
    """answers.toml, nothing answered yet."""
    yield f"# {lab.title}. Write each answer between its quotes."
    yield f'name = "{student}"'
    yield ""
    yield "[answers]"
    for question in lab.question:
        unit = getattr(question, "unit", "")
        worth = "1 point" if question.points == 1 else f"{question.points} points"
        asked = f"{question.ask} [{unit + ', ' if unit else ''}{worth}]"
        yield from (f"# {line}" for line in textwrap.wrap(asked, WIDTH))
        yield f'{question.key} = ""'
        yield ""
