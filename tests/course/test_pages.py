# SPDX-License-Identifier: GPL-2.0-only
"""Each lab's text has a picture, words for it, objectives, prerequisites; the overview is whole."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analysis.report import trial_plots
from harness.course import handout, pictures
from harness.course import lab as labs
from harness.course.canvas import WIDTH
from harness.course.panels import PANELS
from harness.host.paths import PROJECT
from plan.errors import UsageError
from tests.course import pages

LABS = labs.names()
ADA = "Ada Lovelace"
SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = ("x", "x1", "x2", "y", "y1", "y2")


def text_of(name: str) -> str:
    return labs.file(name, labs.TEXT).read_text(encoding="utf-8")


def words(svg: str) -> list[str]:
    return [str(one.text) for one in ElementTree.fromstring(svg.encode()).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", LABS)
def test_the_pictures_are_as_drawn(name: str) -> None:
    """Else: python -m tests.course.pages."""
    for file, content in pages.files(name).items():
        assert labs.file(name, file).read_text(encoding="utf-8") == content, file


def test_the_overview_is_as_the_labs_say() -> None:
    """Else: python -m tests.course.pages."""
    page = pages.OVERVIEW.read_text(encoding="utf-8")
    assert page == pages.overview()
    assert all(f"]({name}/text.md)" in page for name in LABS) and "](project.md)" in page
    assert [labs.load(name).week for name in LABS] == sorted({labs.load(n).week for n in LABS})


@pytest.mark.parametrize("name", LABS)
def test_a_text_says_what_is_learnt_and_what_is_needed(name: str) -> None:
    for heading, fewest in (("What you learn", 2), ("What you need first", 1)):
        found = re.search(rf"^## {heading}\n\n((?:- .*\n(?:  .*\n)*)+)", text_of(name), re.M)
        assert found and found[1].count("\n- ") + 1 >= fewest, heading


@pytest.mark.parametrize("name", LABS)
def test_a_picture_says_the_same_in_words(name: str) -> None:
    """In the page, and in the file for a reader of the screen."""
    found = pictures.of_lab(name, labs.load(name))
    root = ElementTree.fromstring(found.svg.encode())
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}desc") == found.alternative
    assert len(found.alternative.split()) > 20 and found.alternative in text_of(name)
    assert not set(found.alternative) & set("[]")


@pytest.mark.parametrize("name", LABS)
def test_nothing_lies_outside_of_a_picture(name: str) -> None:
    root = ElementTree.fromstring(pictures.of_lab(name, labs.load(name)).svg.encode())
    height = float(root.get("height", 0))
    for part in root.iter():
        for key in NUMBERS:
            most = WIDTH if key.startswith("x") else height
            assert 0 <= float(part.get(key, 0)) <= most, ElementTree.tostring(part)
        if part.tag == f"{SVG}rect" and "x" in part.attrib:
            assert float(part.attrib["x"]) + float(part.attrib["width"]) <= WIDTH
            assert float(part.attrib["y"]) + float(part.attrib["height"]) <= height


@pytest.mark.parametrize("name", LABS)
def test_a_student_gets_a_picture_of_the_own_network(name: str, tmp_path: Path) -> None:
    handout.start(name, tmp_path, ADA)
    lab = labs.load(name)
    own = handout.own_keys(name, lab, ADA)
    said = " ".join(words((tmp_path / labs.PICTURE).read_text(encoding="utf-8")))
    general = " ".join(words(labs.file(name, labs.PICTURE).read_text(encoding="utf-8")))
    if "base.topology.delay_us" in own:
        assert f"{own['base.topology.delay_us'] / 1000:g} ms each way" in said
        assert "ms each way" in general and general != said
    if "base.queue.buffer_cells" in own:
        assert f"room for {own['base.queue.buffer_cells']} cells" in said


def test_a_student_sees_the_own_losses(tmp_path: Path) -> None:
    lost = handout.losses("2-losses", labs.load("2-losses"), ADA)
    handout.start("2-losses", tmp_path, ADA)
    root = ElementTree.fromstring((tmp_path / labs.PICTURE).read_bytes())
    assert f"are lost, {', '.join(map(str, lost))}." in str(root.findtext(f"{SVG}desc"))


def test_a_part_that_is_none() -> None:
    lab = labs.load(LABS[0])
    table = {**vars(lab), "picture": ("network", "sky")}
    with pytest.raises(UsageError, match="sky is no part; use network"):
        pictures.of_lab(LABS[0], labs.CourseLab(**table))


def test_each_part_is_in_a_picture() -> None:
    assert {part for name in LABS for part in labs.load(name).picture} == set(PANELS)


PLOT = re.compile(r"(?<!\*)\*([A-Z][a-z]+ [^*]+)\*(?!\*)")
TITLE = re.compile(r'title(?:: str)? ?= ?"([^"]+)"')


def test_the_plots_that_texts_name_are_in_a_report() -> None:
    titles = set(TITLE.findall(Path(trial_plots.__file__).read_text(encoding="utf-8")))
    named = {plot for name in LABS for plot in PLOT.findall(text_of(name))}
    assert len(named) >= 4 and named <= titles


def test_pages_name_the_overview() -> None:
    for page in ("course/README.md", "docs/guides/classroom.md", "docs/site/navigation.toml"):
        assert "overview.md" in (PROJECT / page).read_text(encoding="utf-8"), page
