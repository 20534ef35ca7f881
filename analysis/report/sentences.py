# SPDX-License-Identifier: GPL-2.0-only
"""The sentences of a study's README whose numbers come from its kept results.

studies/ID/sentences.toml has a template for each:

    [[sentence]]
    id = "end-of-path"          unique
    numbers = "end"             which of the study's functions gives the numbers (Pages.numbers)
    text = "They lie within {largest:.3f} of the paper, {above:d} of {cells:d} above it."
    only_if = ["largest < 0.1", "above > below"]      not required
    otherwise = "One lies {largest:.3f} from it."     not required

and the README a place for it:

    <!-- sentences end-of-path -->
    They lie within 0.049 of the paper, 3 of 12 above it.
    <!-- end -->

A sentence is written only where each of its conditions is true. Where one is false, `otherwise` is
written in its place; without `otherwise` that is an error.
"""

import operator
import re
import string
import textwrap
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import TableError
from analysis.kept import Kept
from analysis.report.model import signed

FILE = "sentences.toml"
WIDTH = 108
Number = float | int | str | None
Numbers = Mapping[str, Number]
Source = Callable[[Kept], Numbers]
PLACE = re.compile(
    r"^(?P<lead>[ \t]*)(?P<mark>- )?<!-- sentences (?P<ids>[\w. -]+?) -->\n.*?<!-- end -->",
    re.DOTALL | re.MULTILINE,
)
CONDITION = re.compile(r"(\w+) *(<=|>=|==|<|>) *(\w+|-?[\d.]+)")
COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A template, what has to be true for it to be written, and what is written otherwise."""

    id: str
    numbers: str
    text: str
    only_if: Sequence[str] = ()
    otherwise: str | None = None


def load(path: Path) -> dict[str, Sentence]:
    """The sentences in a file; none where there is no file. Raises TableError naming the fault."""
    if not path.exists():
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(f"the sentences in {path} cannot be read: {error}") from None
    found: dict[str, Sentence] = {}
    for entry in document.get("sentence", []):
        try:
            sentence = Sentence(**entry)
        except TypeError as error:
            raise TableError(f"{path}: sentence '{entry.get('id')}': {error}") from None
        if sentence.id in found:
            raise TableError(f"{path}: two sentences have the id '{sentence.id}'")
        found[sentence.id] = sentence
    return found


def written(sentence: Sentence, numbers: Numbers, where: str) -> str:
    """The sentence with its numbers.

    where: the file, for errors. Raises TableError where a number is not known, and where a
    condition is not true and the sentence has no other text.
    """
    about = f"{where}: sentence '{sentence.id}'"
    text: str | None = sentence.text
    if false := _false(sentence.only_if, numbers, about):
        text = sentence.otherwise
    if text is None:
        raise TableError(false)
    try:
        return _Signed().vformat(text, (), _Known(numbers, about))
    except (ValueError, IndexError) as error:
        raise TableError(f"{about}: the text cannot be filled: {error}") from None


def with_sentences(text: str, path: Path, sources: Mapping[str, Source], kept: Kept) -> str:
    """A README's text with its sentences as the kept results now have them.

    path: the README's; sources: the study's functions. Raises TableError as written() does, for a
    sentence that is not in the file, and for one that has no place.
    """
    file = path.with_name(FILE)
    known, shown = load(file), set[str]()
    made: dict[str, Numbers] = {}

    def one(name: str) -> str:
        if name not in known:
            raise TableError(
                f"{path}: the sentence '{name}' does not exist (known: {', '.join(known)})"
            )
        shown.add(name)
        sentence = known[name]
        if sentence.numbers not in sources:
            raise TableError(
                f"{file}: sentence '{name}': the study has no numbers '{sentence.numbers}' "
                f"(known: {', '.join(sources)})"
            )
        if sentence.numbers not in made:
            made[sentence.numbers] = sources[sentence.numbers](kept)
        return written(sentence, made[sentence.numbers], str(file))

    def filled(match: re.Match[str]) -> str:
        lead, mark = match["lead"], match["mark"] or ""
        indent = lead + " " * len(mark)
        lines = textwrap.fill(
            " ".join(map(one, match["ids"].split())),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return f"{lead}{mark}<!-- sentences {match['ids']} -->\n{lines}\n{indent}<!-- end -->"

    whole = PLACE.sub(filled, text)
    for name in known:
        if name not in shown:
            raise TableError(f"{path} has no place for the sentence '{name}'")
    return whole


class _Known(dict[str, Number]):
    """Numbers of which each that is asked for has to be there."""

    def __init__(self, numbers: Numbers, about: str) -> None:
        super().__init__(numbers)
        self._about = about

    def __missing__(self, name: str) -> Number:
        raise TableError(
            f"{self._about}: the number '{name}' does not exist (known: {', '.join(self)})"
        )

    def __getitem__(self, name: str) -> Number:
        value = super().__getitem__(name)
        if value is None:
            raise TableError(f"{self._about}: the kept results have no value for '{name}'")
        return value


class _Signed(string.Formatter):
    """Numbers with a true minus sign."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = str(format(value, format_spec))
        return text if isinstance(value, str) else signed(text)


def _false(conditions: Sequence[str], numbers: Numbers, about: str) -> str:
    """What is wrong with the first condition that is not true; empty where all are."""
    return next(filter(None, (_wrong(one, numbers, about) for one in conditions)), "")


def _wrong(condition: str, numbers: Numbers, about: str) -> str:
    match = CONDITION.fullmatch(condition.strip())
    if match is None:
        raise TableError(f"{about}: '{condition}' is no condition; write NAME < NUMBER or NAME")
    known = _Known(numbers, about)
    first, second = known[match[1]], _operand(match[3], known)
    if COMPARED[match[2]](first, second):
        return ""
    return (
        f"{about} is not true: it needs {condition}, but the kept results have "
        f"{match[1]} = {first:.6g}"
        + ("" if match[3] not in numbers else f" and {match[3]} = {second:.6g}")
        + "; write what they say"
    )


def _operand(text: str, known: Mapping[str, Number]) -> Number:
    try:
        return float(text)
    except ValueError:
        return known[text]
