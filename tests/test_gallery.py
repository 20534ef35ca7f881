# SPDX-License-Identifier: GPL-2.0-only
"""The gallery shows each example as it is, with its figures and its pictures."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests import gallery

PAGE = gallery.PAGE.read_text(encoding="utf-8")
IMAGES = re.compile(r"^!\[(.*)\]\((.*)\)$", re.MULTILINE)


@pytest.mark.parametrize("name", gallery.names())
def test_an_example_is_as_short_as_the_gallery_promises(name: str) -> None:
    text = (gallery.FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 12


def test_the_page_begins_as_it_is_generated() -> None:
    assert PAGE.startswith(gallery.HEAD)


@pytest.mark.parametrize("name", gallery.names())
def test_the_table_at_the_top_leads_to_each_example(name: str) -> None:
    title = gallery.heading(name).strip("# \n")
    anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    assert f"(#{anchor})" in gallery.HEAD


def test_the_page_has_each_picture_and_no_other() -> None:
    shown = [file for _, file in IMAGES.findall(PAGE)]
    assert sorted(shown) == sorted(path.name for path in gallery.FOLDER.glob("*.svg"))
    names = gallery.names()
    assert all(any(file.startswith(f"{name}-") for file in shown) for name in names)
    assert all(any(file.startswith(f"{name}-") for name in names) for file in shown)


@pytest.mark.lab
@pytest.mark.parametrize("name", gallery.names())
def test_an_example_gives_what_the_page_shows(name: str, tmp_path: Path) -> None:
    text = (gallery.FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    builds = "lab.kernel" in text or 'kind = "mptcp"' in text
    if builds and "CELLBED_SLOW_TESTS" not in os.environ:
        pytest.skip("slow: it builds a kernel; CELLBED_SLOW_TESTS=1")
    trials = gallery.run(name, tmp_path)
    drawn = list(gallery.pictures(trials))
    shown = [(kind, alt) for kind, alt, _ in drawn]
    assert gallery.section(name, shown, gallery.figures(trials)) in PAGE
    for kind, _, svg in drawn:
        assert (gallery.FOLDER / f"{name}-{kind}.svg").read_text(encoding="utf-8") == svg
