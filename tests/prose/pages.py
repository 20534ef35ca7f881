# SPDX-License-Identifier: GPL-2.0-only
"""The prose of a page in Markdown, on the lines where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark").enable("table")
CODE = "X"  # what inline code is to a reader: a name
BLOCK_END = "|"  # of a paragraph, a heading, an item or a table's cell
# Results that a study fills in are figures, not prose.
RESULTS = re.compile(r"^<!-- table .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"(?:[^|.!?]|[.!?](?!\s|$|\|))+[.!?]*")


class Sentence(NamedTuple):
    text: str
    at: int  # its place in the prose, characters


def prose(markdown: str) -> str:
    """The page's text without code and links' targets. Line n of it is line n of the page."""
    lines = [""] * (markdown.count("\n") + 1)
    written = RESULTS.sub(lambda match: "\n" * match[0].count("\n"), markdown)
    for token in MARKDOWN.parse(written):
        if token.type == "inline" and token.map:
            for at, line in enumerate(text(token).split("\n"), token.map[0]):
                lines[at] = f"{lines[at]} {line}".strip()
    return "\n".join(lines)


def text(token: Token) -> str:
    parts = []
    for child in token.children or []:
        if child.type == "text":
            parts.append(child.content.replace(BLOCK_END, " "))
        elif child.type == "code_inline":
            parts.append(CODE)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
    return "".join([*parts, BLOCK_END])


def sentences(found: str) -> Iterator[Sentence]:
    for match in SENTENCE.finditer(found):
        if stripped := match[0].strip():
            yield Sentence(stripped, match.start() + match[0].index(stripped))
