# SPDX-License-Identifier: GPL-2.0-only
"""Explains why a file is not TOML, in the words of a person who writes experiments. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from harness.design.settings import TABLES
from harness.design.units import without_unit

PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
TWICE = re.compile(r"overwrite|twice|[Dd]uplicate|mutate")  # tomllib's words for a second time
STRING = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
TOKEN = re.compile(r"[^,\]}#\n]*")
GROUPED = re.compile(r"""(?<![\w.,"'])\d{1,3}(?:[ '’´`\u00a0\u2009\u202f]\d{3})+(?![\w"'])""")
NO_DIGITS = re.compile(r"\D")
PLAIN = "type a plain one for it"
IN_PLACE_OF = {"Pd": "type a minus sign, -", "Cf": "remove it"}  # category of Unicode -> advice
CURLY = "“”„‟‘’‚‛«»"
SWITCHES = {"true": "true", "yes": "true", "on": "true"} | dict.fromkeys(
    ("false", "no", "off"), "false"
)


@dataclass(frozen=True)
class Place:
    """Where a file stops being TOML.

    Attributes:
        number, line: the line, from 1, and its text.
        before, after: that text up to the place, and from there on.
        open: the brackets that are open there, with the number of the line of each.
    """

    number: int
    line: str
    before: str
    after: str
    open: tuple[tuple[str, int], ...]

    @property
    def inner(self) -> str:
        """The bracket that was opened last; "" where none is open."""
        return self.open[-1][0] if self.open else ""


def explain(text: str, said: str) -> tuple[int, str]:
    """The line of a mistake, and a sentence on what it is.

    Args:
        text: of the file.
        said: tomllib's message; its place is taken from it, and whether a key is there twice.
    """
    place = place_of(text, said)
    if text.lstrip().startswith("{"):
        return 1, "this is JSON, and the file must be TOML"
    if TWICE.search(said):
        return twice(text, place)
    looks = (
        grouped,
        odd_letter,
        bad_heading,
        open_quote,
        open_bracket,
        commas,
        bad_key,
        bad_value,
        leftover,
    )
    for look in looks:
        if found := look(place):
            return found
    return place.number, (
        "a line must be KEY = VALUE, a heading such as [base] or [[rule]], or a comment after #"
    )


def place_of(text: str, said: str) -> Place:
    lines = text.split("\n")
    if found := PLACE.search(said):
        number, column = int(found[1]), int(found[2])
    else:
        number = line_of_open_text(lines)
        column = len(lines[number - 1]) + 1
    line = lines[number - 1].removesuffix("\r")
    before, after = line[: column - 1], line[column - 1 :]
    return Place(number, line, before, after, tuple(open_brackets(lines[: number - 1], before)))


def line_of_open_text(lines: list[str]) -> int:
    """The line whose text has no end, or else the last that is not empty."""
    for number, line in enumerate(lines, 1):
        if set(bare(line)) & {'"', "'"} or line.count('"""') % 2 or line.count("'''") % 2:
            return number
    return max((number for number, line in enumerate(lines, 1) if line.strip()), default=1)


def open_brackets(lines: list[str], last: str) -> list[tuple[str, int]]:
    """The brackets that are open behind some lines and the beginning of one more."""
    found: list[tuple[str, int]] = []
    for number, line in enumerate([*lines, last], 1):
        if found or not line.lstrip().startswith("["):
            for letter in bare(line):
                if letter in "[{":
                    found.append((letter, number))
                elif letter in "]}" and found:
                    found.pop()
    return found


def bare(line: str) -> str:
    """A line without its texts and its comment."""
    return STRING.sub(lambda text: "_" * len(text[0]), line).partition("#")[0]


def twice(text: str, place: Place) -> tuple[int, str]:
    """The line of what stands there a second time, and where it stood first."""
    if place.inner:
        return place.number, twice_in_braces(place.before)
    lines = text.split("\n")[: place.number - 1]
    headings = [(n, line.strip()) for n, line in enumerate(lines, 1) if line.startswith("[")]
    found = KEY.match(place.line)
    name = found[1] if found else place.line.partition("#")[0].strip()
    single = [(n, line) for n, line in headings if line in ("[rule]", "[only]")]
    if single and not found:
        number, heading = single[0]
        return number, f"{heading} must be [{heading}], with two brackets on each side"
    if not found and (part := part_of_none(name, [*headings, (place.number, name)])):
        return part
    if not found:
        return place.number, heading_twice(name, lines)
    above = under_heading(lines)
    if name in [key for _, key, _ in above]:
        return place.number, key_twice(name, above)
    if headings and headings[-1][1] == "[factors]":
        return no_factor(name, place, above)
    return place.number, below_value(name, above) or key_twice(name, above)


def twice_in_braces(before: str) -> str:
    """What is said of the last key of a text that ends in braces."""
    *above, key = keys_of(before)
    under = [one for one in above if key.startswith(f"{one}.")]
    if key in above or not under:
        return f"the key {key} stands twice in these braces: remove one of them"
    return f"{key} cannot stand here, because {under[0]} has a value already: remove one of them"


def part_of_none(name: str, headings: list[tuple[int, str]]) -> tuple[int, str] | None:
    """A heading such as [rule.when] that has no [[rule]] of its own above it."""
    parts = [(n, line) for n, line in headings if line.startswith(("[rule.", "[only."))]
    if not parts or not name.startswith(("[rule.", "[only.", "[[rule]]", "[[only]]")):
        return None
    number, heading = parts[0] if name.startswith("[[") else parts[-1]
    return number, f"a line [[{heading[1:5]}]] is missing above {heading}"


def under_heading(lines: list[str]) -> list[tuple[int, str, str]]:
    """Number, key and value of each line below the last heading."""
    found: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            found.clear()
        elif key := KEY.match(line):
            found.append((number, re.sub(r"\s+", "", key[1]), line[key.end() :].strip()))
    return found


def no_factor(name: str, place: Place, above: list[tuple[int, str, str]]) -> tuple[int, str]:
    """What is wrong with a key below [factors] that meets another one there.

    Only a factor has a list: a key of the settings that has none belongs below [base].
    """
    table = name.partition(".")[0]
    for number, key, _ in above:
        if name.startswith(f"{key}."):
            if key in TABLES:
                return number, f"{key} is no factor: name each factor by its key, as {name}"
            return place.number, below_value(name, above)
    settings = [
        (number, key)
        for number, key, value in [*above, (place.number, name, "")]
        if key.partition(".")[0] in TABLES and not value.startswith("[")
    ]
    if table in TABLES:
        number, key = settings[0]
        return number, f"{key} is no factor: a line [base] is missing above it"
    return place.number, key_twice(name, above)


def below_value(name: str, above: list[tuple[int, str, str]]) -> str:
    """What is said of a key whose beginning has a value already; "" where it has none."""
    for number, key, value in above:
        last = name.removeprefix(f"{key}.")
        if last != name and value.startswith("{"):
            return (
                f"{name} comes after {key} = {{...}}, which must have all keys of {key}: write"
                f" {last} between the braces of line {number}"
            )
        if last != name:
            return (
                f"{name} cannot stand here, because {key} has a value already, in line {number}:"
                " remove one of them"
            )
    return ""


def key_twice(name: str, above: list[tuple[int, str, str]]) -> str:
    where = [number for number, key, _ in above if key == name]
    first = f", first in line {where[0]}" if where else ""
    return f"the key {name} stands there twice{first}: remove one of them"


def heading_twice(name: str, lines: list[str]) -> str:
    first = [number for number, line in enumerate(lines, 1) if line.strip().startswith(name)]
    key = name.strip("[]")
    as_key = [n for n, line in enumerate(lines, 1) if re.match(rf"\s*{re.escape(key)}\s*=", line)]
    if not first and as_key:
        return f"{name} and the key {key} of line {as_key[0]} name one thing: remove one of them"
    where = f", first in line {first[-1]}" if first else ""
    return f"the heading {name} stands there twice{where}: put the keys of both below one"


def grouped(place: Place) -> tuple[int, str] | None:
    """A number such as 10 000 000 or 10'000'000. In a list, 10 000 is one, and 250 500 are two."""
    at = len(place.before)
    for found in GROUPED.finditer(place.line):
        sign = found[0].lstrip("0123456789")[0]
        wrong = place.inner != "[" or not sign.isspace() or re.search(r"\s0", found[0])
        if found.start() < at <= found.end() and wrong:
            what = "blanks" if sign.isspace() else sign
            return place.number, f"a number has no {what}: write {re.sub(NO_DIGITS, '_', found[0])}"
    return None


def odd_letter(place: Place) -> tuple[int, str] | None:
    """A letter that a word processor or a web page put in place of a plain one."""
    if "\r" in place.line:
        return place.number, "a line ends with CR alone: save the file with the line ends of Unix"
    if unicodedata.category(place.after[:1] or " ") in ("Cc", "Zl", "Zp"):
        return place.number, f"the line has the character {named(place.after[0])}: remove it"
    rest = bare(place.line)
    if curly := [letter for letter in rest if letter in CURLY]:
        return place.number, f'{curly[0]} is a curly quote: type straight quotes, "'
    for letter in rest:
        kind = unicodedata.category(letter)
        odd = kind in ("Zs", "Cf", "Pd", "Ps", "Pe", "Sm", "Po", "Cc") or letter.isdecimal()
        if ord(letter) > 127 and odd:
            mend = IN_PLACE_OF.get(kind, PLAIN)
            return place.number, f"the line has the character {named(letter)}: {mend}"
    return None


def named(letter: str) -> str:
    """A letter by its number and name, because it may look like another letter."""
    return f"U+{ord(letter):04X} ({unicodedata.name(letter, 'without a name').lower()})"


def of_one_script(word: str) -> bool:
    """Are all letters of a word of one alphabet? If not, one of them looks like another letter."""
    letters = [letter for letter in word if letter.isalpha()]
    return len({unicodedata.name(letter, "").partition(" ")[0] for letter in letters}) == 1


def bad_heading(place: Place) -> tuple[int, str] | None:
    text = bare(place.line).strip()
    if place.open or not (text.startswith("[") or re.fullmatch(r"[\w.-]+\]+", text)):
        return None
    name = re.sub(r"\s+", ".", text.strip("[]; :,")).replace("[", "").replace("]", "")
    doubled = text.startswith("[[") or text.endswith("]]")
    brackets = 2 if name in ("rule", "only") or doubled else 1
    right = f"{'[' * brackets}{name or 'base'}{']' * brackets}"
    return place.number, f"a heading is a name in brackets, alone in its line: write {right}"


def open_quote(place: Place) -> tuple[int, str] | None:
    for quotes in ('"""', "'''"):
        if place.line.count(quotes) % 2:
            return place.number, f"the text after {quotes} has no closing {quotes}"
    rest = STRING.sub("", place.line)
    if "\\" in place.line and '"' not in rest.partition("#")[0]:
        return place.number, r"\ has a meaning of its own in a text; write \\ for it, or use /"
    for quote in "\"'":
        at = rest.partition("#")[0].find(quote)
        if at >= 0:
            begun = rest[:at].rstrip()
            if begun.endswith(("=", "[", ",", "{")):
                return place.number, f"the text after {quote} has no closing {quote} in its line"
            count = place.line.partition("#")[0].count(quote)
            if count % 2:
                said = f"a {quote} is missing: a text has one before it and one behind it"
                return place.number, said
    return None


def open_bracket(place: Place) -> tuple[int, str] | None:
    """A list or a table in braces that has no end, or not in its line."""
    if not place.open:
        return None
    bracket, number = place.open[-1]
    ended = not place.after.strip() or place.after.lstrip().startswith("#")
    if bracket == "{" and (number < place.number or ended):
        return number, (
            "a table in braces must end with } in the line in which it begins; for several lines"
            " write a heading, such as [base.topology], and below it one key in each line"
        )
    goes_on = KEY.match(place.line) or place.line.lstrip().startswith("[")
    if bracket == "[" and (ended or (number < place.number and goes_on)):
        return number, "the list that begins in this line has no closing ]"
    return None


def commas(place: Place) -> tuple[int, str] | None:
    """A number such as 10,000,000. In a list, 1,250 is two numbers, and 1,000 is none."""
    at = len(place.before)
    for found in re.finditer(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?!\w)", bare(place.line)):
        wrong = place.inner != "[" or ",0" in found[0]
        if found.start() < at <= found.end() and wrong:
            written = found[0].replace(",", "_")
            return place.number, f"a number has no commas: write {written}"
    return None


def bad_key(place: Place) -> tuple[int, str] | None:
    """What stands before the value."""
    begun = re.split(r"[{,]", place.before)[-1] if place.inner == "{" else place.before
    if place.inner == "[" or "=" in bare(begun):
        return None
    if fraction := re.search(r"(\d+),\s*(\d+)\s*$", place.before):
        written = f"{fraction[1]}.{fraction[2]}"
        return place.number, f"a fraction is written with a point: write {written}"
    rest = place.after.lstrip()
    word = (begun + re.split(r"[=:,}#]", place.after)[0]).strip()
    if rest.startswith(("}", ",")) and not word:
        return place.number, f"a comma is too much before {rest[0]}; remove it"
    if rest.startswith("="):
        return place.number, "a key is missing before ="
    if rest.startswith(":"):
        return place.number, f"write = in place of : after {word}"
    if rest.startswith("{") and word:
        return place.number, f"= is missing before {{: write {begun.strip()} = {{ ... }}"
    if begun.strip().startswith(("'", '"')):
        return place.number, "a list is in brackets, such as [250, 500]; braces are for keys"
    if begun.strip() and "=" not in re.split(r"[,}#]", place.after)[0]:
        return place.number, f"= is missing after {begun.strip()}; write KEY = VALUE"
    odd = next((letter for letter in bare(word) if ord(letter) > 127), "")
    if odd and of_one_script(word):
        return place.number, f'a key with {odd} in it needs quotes: write "{word}"'
    if odd:
        return place.number, f"the key {word} has the character {named(odd)}: {PLAIN}"
    if begun.strip():
        return place.number, (
            f"a key has letters, digits, _ and - only; {word} needs quotes, or _ for its blanks"
        )
    return None


def bad_value(place: Place) -> tuple[int, str] | None:
    """What stands in the place of a value and is none."""
    if not place.before.rstrip().endswith(("=", "[", ",")):
        return None
    found = TOKEN.match(place.after.strip())
    word = found[0].strip() if found else ""
    key = last_key(place.before)
    if place.after.lstrip().startswith("="):
        return place.number, "= stands there twice; write KEY = VALUE"
    if re.match(r"[\w.-]+\s*=", place.after.strip()):
        return place.number, f"a table is in braces: a {{ is missing before {word.split()[0]}"
    if word.startswith("(") and "=" in word:
        return place.number, "a table is in braces: write { and } in place of ( and )"
    if word.startswith("("):
        return place.number, "a list is in brackets, such as [250, 500]"
    if not word and place.inner == "[" and place.after.lstrip().startswith(","):
        return place.number, "a comma is too much before ,; remove it"
    if "(" in word:
        return place.number, "( is no part of a number or a list: write the levels, as [250, 500]"
    if not word:
        return place.number, f"{key or 'the key'} has no value: write one after ="
    return place.number, right_value(key, word)


def last_key(text: str) -> str:
    """The key whose value begins behind a text."""
    found = keys_of(text)
    return found[-1] if found else ""


def keys_of(text: str) -> list[str]:
    """All keys of a line, or of its beginning."""
    return re.findall(r"([\w.-]+)\s*=", text)


def right_value(key: str, word: str) -> str:
    """How to write a value that TOML does not read."""
    if word.casefold() in SWITCHES:
        return f"{word} is no value; write {SWITCHES[word.casefold()]}, in small letters"
    if word.casefold() in ("null", "nil"):
        return f"{word} is no value; remove the key if it is to have none"
    if number := without_unit(key, word):
        return number
    if re.fullmatch(r"0\d[\d_]*", word):
        return f"a number begins with no 0: write {word.lstrip('0') or '0'}"
    if re.fullmatch(r"\.\d+", word):
        return f"write 0{word}, with a digit before the point"
    if re.fullmatch(r"\d+\.", word):
        return f"write {word}0, with a digit behind the point"
    plain = word.strip("\"'")
    return f'a text needs quotes: write "{plain}"'


def leftover(place: Place) -> tuple[int, str] | None:
    """What stands behind a value."""
    rest = place.after.strip()
    if not rest:
        return None
    said = behind_number(place) or of_sum(place) or wrong_end(place, rest)
    if not said and place.inner:
        word = re.split(r"[\s=,\]}]", rest)[0] or rest[0]
        said = f"a comma is missing before {word}"
    if not said and place.before.strip():
        said = f"{rest} stands behind the value; a line has one key and one value"
    return (place.number, said) if said else None


def behind_number(place: Place) -> str:
    """What is wrong with a number that goes on in some way; "" where it does not."""
    number = re.search(r"(?<![\w.])[\d._]+\s*$", place.before)
    more = re.match(r"\s*([\w.%/µ]+)\s*(?=[,}\]#]|$)", place.after)
    if not number or not more:
        return ""
    word = number[0].strip() + more[1]
    blank = number[0][-1:].isspace() or place.after[:1].isspace()
    if said := without_unit(last_key(place.before), word):
        return said
    if re.fullmatch(r"0\d[\d_]*", word):
        return f"a number begins with no 0: write {word.lstrip('0') or '0'}"
    if blank and more[1].isdigit():
        if place.inner == "[":
            return f"a comma is missing before {more[1]}"
        return f"a number has no blanks: write {number[0].strip()}_{more[1]}"
    return f"{word} is no number"


def of_sum(place: Place) -> str:
    """A calculation such as 256*1024, which TOML does not make; "" for any other text."""
    before = re.search(r"(?<![\w.])[\d._]+\s*$", place.before)
    after = re.match(r"\s*[*+^-]{1,2}\s*\d[\d*+^.-]*", place.after)
    if not before or not after:
        return ""
    return f"{(before[0] + after[0]).strip()} is no number: write the result of the calculation"


def wrong_end(place: Place, rest: str) -> str:
    """What is wrong with the sign behind a value; "" where nothing is."""
    if place.inner == "[" and rest[0] in ";|":
        return f"write , in place of {rest[0]} between the values of a list"
    if rest.startswith(("//", ";", "--", "/*")) and len(rest) > 1:
        return f"a comment begins with #, and not with {rest.split()[0][:2]}"
    if rest[0] in "]})":
        closing = {"[": "]", "{": "}", "": ""}[place.inner]
        return (
            f"{closing} must stand here, and not {rest[0]}"
            if closing
            else (f"{rest[0]} closes nothing here: remove it")
        )
    if rest[0] in ",;" and not place.inner:
        if len(rest) == 1:
            return f"a line has no {rest[0]} at its end: remove it"
        return "several values are a list, in brackets, such as [250, 500]"
    if place.before.endswith('"') and rest[0] != '"' and '"' in rest:
        return r'a text ends at the next ": write \" for a quote within it'
    return ""
