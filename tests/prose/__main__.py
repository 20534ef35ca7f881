# SPDX-License-Identifier: GPL-2.0-only
"""`python -m tests.prose [--shrink]` shows new faults of the pages' English, with status 1."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from harness.cli import reference
from tests.prose import known, pages
from tests.prose.rules import Fault, faults
from tests.small import PROJECT
from tests.tracked import tracked

HELP = "./cellbed COMMAND -h"
HINT = (
    "CONTRIBUTING.md shows each rule with an example. A page may keep as many faults as "
    "tests/prose/known.toml says; mend one of the faults above for each that is new."
)


def texts() -> Iterator[tuple[str, str]]:
    """Name and Markdown of all that people read: pages, and the help of all commands."""
    for path in tracked("*.md"):
        yield str(path.relative_to(PROJECT)), path.read_text(encoding="utf-8")
    yield HELP, reference.page()


def new(found: Mapping[str, Sequence[Fault]], allowed: known.Known) -> Iterator[str]:
    """The faults of each rule of which a page has more than it may have: all, as none is newest."""
    for page, listed in found.items():
        for rule, number in counted(listed).items():
            if number > allowed.get(page, {}).get(rule, 0):
                for fault in listed:
                    if fault.rule == rule:
                        yield f"{page}:{fault.line}: {fault.message} ({rule})"


def counted(listed: Sequence[Fault]) -> Counter[str]:
    return Counter(fault.rule for fault in listed)


def main(arguments: Sequence[str]) -> int:
    found = {name: faults(pages.prose(markdown)) for name, markdown in texts()}
    allowed = known.read(known.FILE.read_text(encoding="utf-8"))
    if arguments == ["--shrink"]:
        known.write(known.smaller(allowed, {page: counted(of) for page, of in found.items()}))
    lines = list(new(found, allowed))
    print(*lines, *([HINT] if lines else []), sep="\n", end="\n" if lines else "")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
