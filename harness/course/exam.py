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


def judged_by(question: Measured) -> bool:
    """Does a question still say what is right?"""
    return bool(question.measure or question.hint)
