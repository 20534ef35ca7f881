# SPDX-License-Identifier: GPL-2.0-only
"""A lab as an exam: the same questions, without that by which answers are judged.

Students get this lab.toml in place of the lab's own. Their check then says of each answer that it
was received, and cannot say more: how answers are judged is only in the teacher's copy.
"""

from __future__ import annotations

import re

from harness.course import lab as labs
from harness.course.lab import Measured
from harness.design.toml_file import parse
from plan.errors import UsageError

SECRET = re.compile(r"^[ \t]*(?:measure|hint)[ \t]*=.*\n", re.MULTILINE)
HAND_IN = re.compile(
    r"(?P<command>^## Hand in\n+```sh\n.*?^```\n).*?(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
WORDS = """
This command prints a line for the records of your trials and a line for each answer. The word `in`
at the beginning of a line means that the command received your answer. The mark `--` means that the
answer is missing. The mark `??` means that the answer has the wrong form: for example it is not a
number, or the text has too few words. This lab is an exam, so the command does not say which
answers are right. Give the whole folder to your teacher. Do not remove a file from the folder.
Ask your teacher how to hand in the folder.
"""
TITLE = re.compile(r"^(?=title\b)", re.MULTILINE)


def as_exam(name: str) -> str:
    """A lab's lab.toml for students, without what judges.

    Raises:
        UsageError: the lab is an exam already, or its file is written so that a measure remains.
    """
    path = labs.file(name, labs.QUESTIONS)
    if labs.load(name).exam:
        raise UsageError(f"{path}: this lab is an exam already; use the copy that has its measures")
    text = TITLE.sub("exam = true\n", SECRET.sub("", path.read_text(encoding="utf-8")), count=1)
    lab = labs.of_table(parse(text.encode(), f"{path}, as an exam").table, path)
    remaining = [one.key for one in lab.question if isinstance(one, Measured) and judged_by(one)]
    if remaining or not lab.exam:
        where = f"question {remaining[0]}" if remaining else "title"
        raise UsageError(
            f"{path}, {where}: write title, measure and hint each on one line of its own"
        )
    return text


def without_verdicts(text: str) -> str:
    """A lab's text.md for an exam: its last part explains only what a check then prints."""
    return HAND_IN.sub(lambda found: found["command"] + WORDS, text)


def judged_by(question: Measured) -> bool:
    """Does a question still say what is right?"""
    return bool(question.measure or question.hint)
