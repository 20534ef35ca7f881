# SPDX-License-Identifier: GPL-2.0-only
"""Draws the labs' pictures and writes the overview: `python -m tests.course.pages`.

All of it is made of the labs' own files, without a run. test_pages.py compares.
"""

from __future__ import annotations

import re

from harness.course import lab as labs
from harness.course import pictures

OVERVIEW = labs.FOLDER / "overview.md"
TABLE = re.compile(r"(?<=^\| --- \| --- \| --- \| --- \| --- \|\n).*?(?=^\| 7)", re.M | re.S)
IMAGE = re.compile(r"^!\[[^\]]*\]\(picture\.svg\)$", re.MULTILINE)


def rows() -> str:
    """The overview's line of each lab."""
    lines = []
    for name in labs.names():
        lab = labs.load(name)
        number = name.partition("-")[0]
        link = f"[{number}. {lab.title}]({name}/{labs.TEXT})"
        cells = (str(lab.week), link, lab.concept, lab.reading, str(lab.minutes))
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def overview() -> str:
    """The page, with the table as the labs' files have it."""
    text, times = TABLE.subn(lambda _: rows(), OVERVIEW.read_text(encoding="utf-8"))
    assert times == 1, f"{OVERVIEW}: no table of five columns that ends with the line of week 7"
    return text


def files(name: str) -> dict[str, str]:
    """A lab's picture, and its text with the words in place of the picture."""
    found = pictures.of_lab(name, labs.load(name))
    text = labs.file(name, labs.TEXT).read_text(encoding="utf-8")
    image = f"![{found.alternative}]({labs.PICTURE})"
    text, times = IMAGE.subn(lambda _: image, text)
    assert times == 1, f"{name}/{labs.TEXT}: no line that is the picture: ![...]({labs.PICTURE})"
    return {labs.PICTURE: found.svg, labs.TEXT: text}


def renew() -> None:
    OVERVIEW.write_text(overview(), encoding="utf-8")
    for name in labs.names():
        for file, content in files(name).items():
            labs.file(name, file).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    renew()
