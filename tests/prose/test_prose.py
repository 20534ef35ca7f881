# SPDX-License-Identifier: GPL-2.0-only
"""The rules find bad sentences, and leave good ones alone."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests.prose import known, pages
from tests.prose.__main__ import new
from tests.prose.rules import Fault, faults
from tests.small import PROJECT

BAD = [
    ("one", "A trial without a record is run, and one that has a record is not."),
    ("one", "This command shows the trials, the old ones too."),
    ("one", "The second kernel is compared with the first one."),
    ("what", "What is lost is sent again."),
    ("what", "The record keeps what was sent."),
    ("those", "The rule refuses whoever has most cells."),
    ("those", "The first packets pass, and those that follow wait."),
    ("long", "The queue drops a packet " + "and then, after a while, another " * 5 + "and ends."),
    ("acronym", "EPD refuses a packet."),
    ("acronym", "EPD refuses a packet. " * 5 + "It means early packet discard."),
    ("plain", "Wait in order to see more."),
    ("lexical_illusions", "The queue drops the the packet."),
    ("redundancy", "The queue has an added bonus."),
]
GOOD = [
    "One lab runs one trial at a time: one run, at least one of them at once.",
    "What is lost? A packet that finds no room.",
    "Early packet discard (EPD) refuses a packet. EPD needs a threshold.",
    "EPD (early packet discard) refuses a packet.",
    "The one-way delay is 5 ms. Those packets wait.",
    "`one that is` in code, and a [link](what-is.md).",
    "The queue drops a packet. " * 9,
    "- an item of a list without a verb or a dot\n" * 9,
    "| a | b |\n| --- | --- |\n" + "| a cell of words | and another of words |\n" * 9,
    "```\nwhat is in a block is code\n```",
    "<!-- table claims -->\n| a |\n| --- |\n| what is generated |\n<!-- end -->\n",
]


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_a_bad_sentence_is_found(rule: str, text: str) -> None:
    assert [fault.rule for fault in faults(pages.prose(text))] == [rule]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_sentence_is_not(text: str) -> None:
    assert faults(pages.prose(text)) == []


def test_a_fault_has_its_line() -> None:
    table = "<!-- table a -->\n| a |\n<!-- end -->\n"
    page = (
        "# A page\n\nA sentence\nthat shows what is\nlost.\n\n| a |\n| --- |\n| what was lost |\n"
    )
    assert [fault.line for fault in faults(pages.prose(table + page))] == [7, 12]


def fault(line: int) -> Fault:
    return Fault(line, "what", "name the thing")


def test_more_faults_than_known_are_shown() -> None:
    found = {"a.md": [fault(1), fault(7)]}
    assert list(new(found, {"a.md": {"what": 2}})) == []
    assert list(new(found, {"a.md": {"what": 1}})) == [
        "a.md:1: name the thing (what)",
        "a.md:7: name the thing (what)",
    ]
    assert len(list(new(found, {"b.md": {"what": 2}}))) == 2


def test_the_known_shrink_and_never_grow() -> None:
    before = {"a.md": {"what": 2, "one": 1}, "b.md": {"long": 1}}
    after = {"a.md": Counter(what=5), "c.md": Counter(one=1)}
    assert known.smaller(before, after) == {"a.md": {"what": 2}}


def test_the_file_of_the_known_has_not_grown() -> None:
    name = known.FILE.relative_to(PROJECT)
    argv = ["git", "show", f"HEAD:{name}"]
    shown = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    now = known.read(known.FILE.read_text(encoding="utf-8"))
    committed = known.read(shown.stdout) if shown.returncode == 0 else now
    assert [
        (page, rule)
        for page, rules in now.items()
        for rule, number in rules.items()
        if number > committed.get(page, {}).get(rule, 0)
    ] == []


def test_a_misspelling_is_found() -> None:
    argv = [sys.executable, "-P", "-m", "codespell_lib", "-"]
    done = subprocess.run(
        argv, cwd=PROJECT, input="A qeueu is recieved.\n", capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode != 0 and "received" in done.stdout
