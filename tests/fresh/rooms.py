# SPDX-License-Identifier: GPL-2.0-only
"""Checksums of the products on all machines that the tests keep, as the table of docs/install.md.

    python -m tests.fresh.rooms [NAME=CACHE ...]

in the project's environment. The machines are this one, and the fresh Debians that `make test` has
set up and kept, if they have the products of the present source. NAME=CACHE adds another cache.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.host import paths
from tests.fresh import trees
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "install.md"
TABLE = re.compile(r"(?<=<!-- tests\.fresh\.rooms -->\n).*?(?=<!-- end -->)", re.DOTALL)
DIGITS = 12
NAMES = {
    "bookworm": "Debian 12, a minimal tree, root",
    "trixie": "Debian 13, a minimal tree, a user",
}
COLUMNS = ("kernel", "programs", "packages of the image")


def digests(cache: Path) -> tuple[str, ...] | None:
    """Of the products of the present source in a cache; None where it lacks one."""
    kernel, programs, image = (cache / paths.places()[name].name for name in
                               ("kernel", "programs", "image"))  # fmt: skip
    files = [[kernel / "linux"], sorted(programs.glob("*")), [image / "etc" / "cellbed-debs"]]
    if not all(found and all(path.is_file() for path in found) for found in files):
        return None
    return tuple(digest(found) for found in files)


def digest(files: list[Path]) -> str:
    """Over names and contents."""
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()[:DIGITS]


def caches(more: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Each machine's name and its cache."""
    yield (
        f"{platform.freedesktop_os_release()['PRETTY_NAME']}, the developers' machine",
        paths.places()["cache"],
    )
    for release in trees.RELEASES:
        for tree in trees.place().glob(f"{release}-*/root"):
            for home in (tree / "root", *(tree / "home").iterdir()):
                yield NAMES[release], home / ".cache" / "cellbed"
    yield from more.items()


def main(words: list[str]) -> None:
    """Write the table, if all machines have the same bytes."""
    more = {name: Path(path) for name, path in (word.split("=", 1) for word in words)}
    found = [(name, digests(cache)) for name, cache in caches(more)]
    lines = [f"| machine | {' | '.join(COLUMNS)} |", "|" + " --- |" * (len(COLUMNS) + 1)]
    lines += [f"| {name} | {' | '.join(of)} |" for name, of in found if of]
    text = "".join(f"{line}\n" for line in lines)
    print(text)
    if len({of for _, of in found if of}) != 1:  # none, or others
        sys.exit("The machines do not have the same bytes, so the page keeps its table.")
    page, tables = TABLE.subn(lambda _: text, PAGE.read_text(encoding="utf-8"))
    if tables != 1:
        sys.exit(f"{PAGE} has not one place for the table; write the marks of tests/fresh/rooms.py")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
