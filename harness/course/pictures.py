# SPDX-License-Identifier: GPL-2.0-only
"""A lab's picture, drawn from its experiment: its network, and what happens in it.

A lab's folder has the picture for all; `python -m tests.course.pages` draws it. A student gets
one with the own numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.course import lab as labs
from harness.course.canvas import Canvas, svg
from harness.course.lab import CourseLab
from harness.course.panels import PANELS
from harness.course.scene import Scene
from harness.design import experiment as experiments
from harness.design.trials import planned
from plan.errors import UsageError
from plan.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A drawing, and sentences in place of it."""

    svg: str
    alternative: str


def of_lab(name: str, lab: CourseLab) -> Picture:
    """The picture for all: with ranges where each student has a value."""
    path = labs.file(name, labs.EXPERIMENT)
    plans = [trial.plan for trial in planned(experiments.load(path), path)]
    lost = [(draw.least + draw.most) // 2 for draw in lab.lose]
    return drawn(lab, Scene(plans=plans, draw=lab.draw, lost=lost))


def of_student(lab: CourseLab, plans: Sequence[Plan], lost: Sequence[int]) -> Picture:
    """The picture of the student's own network."""
    return drawn(lab, Scene(plans=plans, draw={}, lost=lost))


def drawn(lab: CourseLab, scene: Scene) -> Picture:
    """The parts that the lab names, one below the other; UsageError for a part that is none."""
    unknown = [name for name in lab.picture if name not in PANELS]
    if unknown:
        raise UsageError(f"{lab.title}: picture: {unknown[0]} is no part; use {', '.join(PANELS)}")
    canvas, top, sentences = Canvas(), 8.0, []
    for name in lab.picture:
        height, sentence = PANELS[name](canvas, scene, top)
        top += height
        sentences.append(sentence)
    alternative = " ".join(sentences)
    return Picture(svg=svg(canvas, top, lab.title, alternative), alternative=alternative)
