# SPDX-License-Identifier: GPL-2.0-only
"""The tables and sentences of a study's README, generated from its kept results.

<!-- table NAME -->
| ... |
<!-- end -->

sentences.py has the places of sentences.
"""

import re
from pathlib import Path

from analysis.errors import TableError
from analysis.kept import Kept
from analysis.report.markdown import table
from analysis.report.pages import pages_of
from analysis.report.sentences import with_sentences
from analysis.study import Study

PLACE = re.compile(r"(<!-- table ([\w.-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def with_tables(study: Study, folder: Path) -> str:
    """The text of `folder`/README.md, each table and sentence as the kept results now have it.

    Raises TableError on a table or sentence that the study has not or the README does not show, on
    a sentence that is not true, and as reading the kept results does.
    """
    path, pages = folder / "README.md", pages_of(study)
    tables = pages.tables
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}") from None
    shown = [match.group(2) for match in PLACE.finditer(text)]
    for name in shown:
        if name not in tables:
            raise TableError(
                f"{path}: the table '{name}' does not exist (known: {', '.join(tables)})"
            )
    for name in tables:
        if name not in shown:
            raise TableError(f"{path} has no place for the table '{name}'")
    kept = Kept(folder / "results")

    def generated(match: re.Match[str]) -> str:
        lines = "\n".join(table(tables[match.group(2)](kept)))
        return f"{match.group(1)}{lines}\n{match.group(4)}"

    return with_sentences(PLACE.sub(generated, text), path, pages.numbers, kept)
