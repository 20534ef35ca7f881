# SPDX-License-Identifier: GPL-2.0-only
"""A README's sentences have the numbers of the kept results, and a false one is not written."""

from pathlib import Path

import pytest

from analysis.errors import TableError
from analysis.kept import Kept
from analysis.report.sentences import FILE, Numbers, with_sentences

TOML = """
[[sentence]]
id = "gain"
numbers = "gains"
text = "SACK gains {gain:+.3f} in {cells:d} of {all} cells, and loses {loss:.2f} in {where}."
only_if = ["gain > 0.01", "cells<all"]

[[sentence]]
id = "more"
numbers = "gains"
text = "Nothing else changes."
"""
README = "# A study\n\n- <!-- sentences gain more -->\n  old\n  <!-- end -->\n"
NUMBERS: dict[str, float | int | str | None] = {
    "gain": 0.02, "cells": 3, "all": 24, "loss": -0.5, "where": "WAN",
}  # fmt: skip


def made(folder: Path, toml: str = TOML, readme: str = README, **changed: float | None) -> str:
    (folder / FILE).write_text(toml)
    numbers: Numbers = {**NUMBERS, **changed}
    return with_sentences(readme, folder / "README.md", {"gains": lambda _: numbers}, Kept(folder))


def test_a_sentence_stands_in_its_place_with_its_numbers(tmp_path: Path) -> None:
    text = made(tmp_path)
    assert text == README.replace(
        "old", "SACK gains +0.020 in 3 of 24 cells, and loses −0.50 in WAN. Nothing else changes."
    )
    assert made(tmp_path, readme=text) == text
    assert made(tmp_path, readme=text, gain=0.021) != text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gain": 0.01}, r"'gain' is not true: it needs gain > 0.01, but .* have gain = 0.01"),
        ({"cells": 24}, "needs cells<all, but the kept results have cells = 24 and all = 24"),
        ({"gain": None}, "the kept results have no value for 'gain'"),
    ],
)
def test_a_false_sentence_is_not_written(
    tmp_path: Path, changed: dict[str, float | None], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        made(tmp_path, **changed)


def test_a_sentence_can_have_another_text_where_it_is_false(tmp_path: Path) -> None:
    toml = TOML.replace(
        'only_if = ["gain', 'otherwise = "SACK gains no more than {gain:.3f}."\nonly_if = ["gain'
    )
    assert "gains +0.020 in 3" in made(tmp_path, toml)
    assert "SACK gains no more than 0.010. Nothing" in made(tmp_path, toml, gain=0.01)
    with pytest.raises(TableError, match="the kept results have no value for 'gain'"):
        made(tmp_path, toml, gain=None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{gain:+.3f}", "{gains}", "the number 'gains' does not exist"),
        ("gain > 0.01", "gain is large", "'gain is large' is no condition"),
        ('numbers = "gains"', 'numbers = "losses"', "the study has no numbers 'losses'"),
        ('id = "more"', 'id = "gain"', "two sentences have the id 'gain'"),
        ('id = "more"', 'id = "less"', "the sentence 'more' does not exist"),
        ("only_if", "if_only", "unexpected keyword argument 'if_only'"),
        ("[[sentence]]", "[[sentence]", "the sentences in .* cannot be read"),
        ("{cells:d}", "{cells:z}", "the text cannot be filled"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        made(tmp_path, TOML.replace(old, new))


def test_a_sentence_needs_a_place(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no place for the sentence 'more'"):
        made(tmp_path, readme=README.replace("gain more", "gain"))
