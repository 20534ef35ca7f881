# SPDX-License-Identifier: GPL-2.0-only
"""What is wrong with a page's English: the project's rules, as checks of proselint.

A sentence needs a subject that names a thing, and no more than LONGEST_WORDS words. An acronym is
spelled out where it first appears. CONTRIBUTING.md shows each rule with an example.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from proselint import checks as proselint_checks
from proselint.config import Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, CheckResult
from proselint.tools import LintFile

from tests.prose.pages import sentences

VOCABULARY = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
LONGEST_WORDS = 30
WORD = re.compile(r"\w")
NEAR = 80  # characters after an acronym in which its long form may stand

VERBS = (
    "is|are|was|were|has|have|had|does|did|can|could|may|might|must|should|will|would|wants|"
    "needs|gets|gives|takes|makes|says|sees|finds|comes|lies|stands|runs|ends"
)
WHO = "that|which|who|whose|with|without"
# "One" that stands for a thing named elsewhere, or for a person.
ONE = (
    r"\bones\b|\bone's\b|"
    r"\b(?:the|that|this|another|each|every|any|which|no|an?(?: \w+)?) one\b(?![ -]\w)|"
    r"\b(?:first|last|second|third|other|only|new|old|next|same) one\b(?![ -]\w)|"
    rf"\bone(?= (?:{VERBS}|{WHO})\b)"
)
WHAT = (
    rf"\bwhat (?:\w+ly )?(?:{VERBS}|remains?|happens?|leaves?|follows?|differs?|belongs?|stays?)\b"
)
THOSE = (
    rf"\b(?:whoever|whatever|those(?= (?:{VERBS}|{WHO}|of|in|on|at|to|by)\b)|those\b(?=[,.;:)]))"
)

Find = Callable[[str], Iterator[tuple[int, int, str]]]


def check(name: str, find: Find) -> Check:
    """A check of proselint's, of a function that gives begin, end and message."""

    def run(text: str, check: Check) -> Iterator[CheckResult]:
        for begin, end, message in find(text):
            yield CheckResult(check.path, message, (begin, end), None)

    return Check(check_type=run, path=f"cellbed.{name}", flags=CheckFlags(allow_quotes=True))


def words(pattern: str, message: str) -> Find:
    compiled = re.compile(pattern, re.IGNORECASE)

    def find(text: str) -> Iterator[tuple[int, int, str]]:
        for sentence in sentences(text):
            if not sentence.text.endswith("?"):
                for match in compiled.finditer(sentence.text):
                    begin = sentence.at + match.start()
                    yield begin, begin + len(match[0]), f"{match[0]!r}: {message}"

    return find


def long_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    for sentence in sentences(text):
        length = sum(bool(WORD.search(word)) for word in sentence.text.split())
        if length > LONGEST_WORDS:
            yield (
                sentence.at,
                sentence.at + len(sentence.text),
                f"a sentence of {length} words: make two, of at most {LONGEST_WORDS}",
            )


def acronyms(text: str) -> Iterator[tuple[int, int, str]]:
    for short, forms in VOCABULARY["acronyms"].items():
        first = re.search(rf"\b{short}s?\b", text)
        if first:
            before = re.sub(r"[\s-]+", " ", text[: first.end() + NEAR].lower())
            if not any(form.lower() in before for form in forms):
                yield (
                    first.start(),
                    first.end(),
                    f"{short!r}: spell it out where it first appears: {forms[0]}",
                )


CHECKS = (
    check("one", words(ONE, "name the thing")),
    check("what", words(WHAT, "name the thing: a noun is the subject")),
    check("those", words(THOSE, "name the things or the person")),
    check("long", long_sentences),
    check("acronym", acronyms),
    *(
        check(f"plain.{long.replace(' ', '-')}", words(rf"\b{long}\b", f"say {short!r}"))
        for long, short in VOCABULARY["plain"].items()
    ),
)
# Checks of proselint's own that suit a manual: not what is a matter of typesetting.
ENABLED = (
    *("cellbed", "archaism", "cliches", "hedging", "industrial_language", "lexical_illusions"),
    *("malapropisms", "mixed_metaphors", "mondegreens", "needless_variants", "nonwords"),
    *("oxymorons", "redundancy", "spelling", "uncomparables"),
)


class Fault(NamedTuple):
    """What is wrong: of line `line` (from 1) by the rule `rule`."""

    line: int
    rule: str
    message: str


def faults(prose: str) -> list[Fault]:
    """What is wrong with a page's prose, in the order of its lines."""
    if not prose.strip():
        return []
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(proselint_checks.__register__)
        registry.register_many(CHECKS)
    config = Config(max_errors=10_000, checks=dict.fromkeys(ENABLED, True))
    return [
        Fault(pos[0], found.check_path.removeprefix("cellbed.").partition(".")[0], found.message)
        for found, pos in LintFile("page", prose).lint(config)
    ]
