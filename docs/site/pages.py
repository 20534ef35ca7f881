# SPDX-License-Identifier: GPL-2.0-only
"""`python docs/site/pages.py FOLDER` puts the pages of the site into a folder, for Sphinx.

They are README.md, the pages of navigation.toml, and all that these link to. Each keeps its path,
so that links are right as they stand. A file that is no page becomes a page that shows it, and a
drawing in Mermaid becomes a picture.
"""

from __future__ import annotations

import posixpath
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import mermaidx
from pygments.lexers import find_lexer_class_for_filename

from harness.cli import reference

PROJECT = Path(__file__).resolve().parents[2]
NAVIGATION = Path(__file__).with_name("navigation.toml")
FIRST = "README.md"
GENERATED = {"docs/options.md": reference.page}
PICTURES = (".svg", ".png")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
MERMAID = re.compile(r"\A```mermaid\n(.*)```\Z", re.DOTALL)
LINK = re.compile(r"\[(?P<text>[^]\[]*)\]\((?P<target>[^)\s#:]+)(?P<rest>#[^)]*)?\)")

Parts = Mapping[str, Mapping[str, str]]  # captions, titles, pages


def main(folder: Path) -> None:
    site = Site(folder)
    site.add(FIRST)
    parts = navigation()
    for pages in parts.values():
        for page in pages.values():
            site.add(page)
    site.write("index.md", first_page(site.page(FIRST), parts))


def navigation() -> Parts:
    """All that navigation.toml says, and the studies: a new one needs no entry."""
    parts = tomllib.loads(NAVIGATION.read_text(encoding="utf-8"))
    found = sorted(PROJECT.glob("studies/*/README.md"))
    return {**parts, "Studies": {heading(path): relative(path) for path in found}}


def heading(path: Path) -> str:
    found = HEADING.search(path.read_text(encoding="utf-8"))
    return found[1] if found else path.parent.name


def first_page(text: str, parts: Parts) -> str:
    """README.md, with the navigation for Sphinx."""
    trees = []
    for caption, pages in parts.items():
        lines = [f"{title} <{page.removesuffix('.md')}>" for title, page in pages.items()]
        trees.append(
            "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *lines, "```"])
        )
    return "\n\n".join([text, *trees])


class Site:
    """Files of the site, each written once, by their paths in the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.added: set[str] = set()

    def write(self, uri: str, content: str | bytes) -> None:
        path = self.folder / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def add(self, uri: str) -> None:
        """A page, and what it links to."""
        if uri not in self.added:
            self.added.add(uri)
            text = self.page(uri)
            if uri != FIRST:
                self.write(uri, text)

    def page(self, uri: str) -> str:
        """The page's text for the site."""
        path = PROJECT / uri
        text = GENERATED[uri]() if uri in GENERATED else path.read_text(encoding="utf-8")
        parts = FENCE.split(text)
        for at, part in enumerate(parts):
            if drawing := MERMAID.match(part):
                parts[at] = self.drawing(f"{uri}-{at}.svg", drawing[1])
            elif not part.startswith("```"):
                parts[at] = LINK.sub(lambda link: self.link(uri, link), part)
        return "".join(parts)

    def drawing(self, uri: str, source: str) -> str:
        self.write(uri, mermaidx.render(source).svg())
        return f"![The drawing that this page describes]({posixpath.basename(uri)})"

    def link(self, uri: str, link: re.Match[str]) -> str:
        """A link as it is, or to the page that shows a file. A folder has none."""
        text, target, rest = link["text"], link["target"], link["rest"] or ""
        there = posixpath.normpath(posixpath.join(posixpath.dirname(uri), target))
        path = PROJECT / there
        if path.is_dir():
            return text
        if there == FIRST:
            return f"[{text}]({target.removesuffix(FIRST)}index.md{rest})"
        if there in GENERATED or (there.endswith(".md") and path.is_file()):
            self.add(there)
        elif there.endswith(PICTURES):
            self.write(there, path.read_bytes())
        elif path.is_file():
            self.write(f"{there}.md", shown(path))
            return f"[{text}]({target}.md)"
        return link[0]


def shown(path: Path) -> str:
    """A page with a file in it."""
    text = path.read_text(encoding="utf-8").rstrip()
    return f"# {relative(path)}\n\n````{language(path)}\n{text}\n````\n"


def language(path: Path) -> str:
    """The name that Pygments gives to the language of a file: `text` where it knows none."""
    known = find_lexer_class_for_filename(path.name)
    return known.aliases[0] if known else "text"


def relative(path: Path) -> str:
    return str(path.relative_to(PROJECT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
