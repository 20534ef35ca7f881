# SPDX-License-Identifier: GPL-2.0-only
"""A source with a series of patches on it: a patch, a mailbox of patches, or a folder of them.

patch(1) applies each exactly, without fuzz. Of a patch that also changes files that no lab's
kernel is made of (drivers, documents), only the others are applied.
"""

from __future__ import annotations

import re
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from harness.host import temporary
from harness.kernels import parts
from harness.kernels.errors import KernelError
from harness.kernels.patches import put
from harness.kernels.recipe import LAB, SELFTESTS, Recipe
from harness.kernels.trees import PLAIN, PROGRAM, File, Files, Tree, blob, checked
from plan.errors import UsageError

if TYPE_CHECKING:
    from email.message import Message

SUFFIXES = (".patch", ".diff", ".mbox", ".eml")
OF_GIT = re.compile(r"^diff --git ", re.MULTILINE)
PLAIN_DIFF = re.compile(r"^--- \S[^\n]*\n\+\+\+ \S", re.MULTILINE)
FILE_LINES = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.MULTILINE)
MOVED = re.compile(r"^(?:rename|copy) (?:from|to) (.+)$", re.MULTILINE)
NUMBER = re.compile(r"\[[^\]]*\b(\d+)/\d+[^\]]*\]")
ANSWER = re.compile(r"(?i)\s*re:")


@dataclass(frozen=True)
class Part:
    """What a patch does to one file, and the names of the file before and after."""

    text: str
    paths: frozenset[str]


@dataclass(frozen=True)
class Patch:
    """A patch: where it was read, and its parts by file."""

    name: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Amended:
    """A tree, of which some files have other contents, are gone or are new."""

    tree: Tree
    files: Files
    contents: Mapping[str, bytes]

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(paths)
        rest = self.tree.read([path for path in wanted if path not in self.contents])
        for path in wanted:
            yield (path, self.contents[path]) if path in self.contents else next(iter(rest))


def amended(name: str, tree: Tree, given: Path, recipe: Recipe = LAB) -> Tree:
    """A tree with the patches of a file or folder on it.

    Args:
        name: of the kernel, for errors.

    Raises:
        UsageError: there is no patch, or none that changes a lab's kernel.
        KernelError: one does not apply.
    """
    wanted = [part_of(patch, recipe) for patch in read(name, given)]
    if not any(patch.parts for patch in wanted):
        if recipe.kind == SELFTESTS:
            return tree  # the tests of a tree have no part of a kernel, and the other way round
        raise UsageError(f"kernel {name}: {given} changes no file that a lab's kernel is made of")
    touched = sorted({path for patch in wanted for part in patch.parts for path in part.paths})
    files, contents = dict(tree.files), {}
    with temporary.folder("series") as folder:
        for path, content in tree.read([path for path in touched if path in tree.files]):
            put(folder / path, content)
            (folder / path).chmod(0o755 if tree.files[path].mode == PROGRAM else 0o644)
        for patch in wanted:
            apply(name, patch, folder)
        for path in touched:
            if not (folder / path).exists():
                files.pop(path, None)
                continue
            contents[path] = (folder / path).read_bytes()
            program = (folder / path).stat().st_mode & stat.S_IXUSR
            files[path] = File(PROGRAM if program else PLAIN, blob(contents[path]))
    return Amended(tree, checked(name, files), contents)


def apply(name: str, patch: Patch, folder: Path) -> None:
    """Apply a patch to files; KernelError."""
    argv = ["patch", "-d", str(folder), "-p1", "-F0", "-f", "-r-", "--no-backup-if-mismatch"]
    text = "".join(part.text for part in patch.parts)
    done = subprocess.run(
        argv, input=text.encode(errors="surrogateescape"), capture_output=True, check=False,
        timeout=600,
    )  # fmt: skip
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace")
        raise KernelError(f"kernel {name}: {patch.name} does not apply: {first_failure(said)}")


def first_failure(said: str) -> str:
    """The first place that patch(1) could not find, or its last line."""
    path = ""
    for line in said.splitlines():
        path = line.removeprefix("patching file ") if line.startswith("patching file ") else path
        if "FAILED" in line:
            return f"{path}: {line}"
    return "".join(said.splitlines()[-1:])


def part_of(patch: Patch, recipe: Recipe) -> Patch:
    """What a patch does to the files that a lab's kernel is made of."""
    kept = [x for x in patch.parts if any(parts.wanted(path, recipe) for path in x.paths)]
    return Patch(patch.name, kept)


def read(name: str, given: Path) -> list[Patch]:
    """The patches of a file or folder, in their order; UsageError."""
    if given.is_dir():
        paths = sorted(path for path in given.iterdir() if path.suffix in SUFFIXES)
        found = [patch for path in paths for patch in read_file(path)]
    else:
        found = read_file(given)
    if not found:
        what = f"no patch ({', '.join(SUFFIXES)})" if given.is_dir() else "no patch"
        raise UsageError(f"kernel {name}: {given} has {what} in it")
    return found


def read_file(path: Path) -> list[Patch]:
    """The patches of a file: of a mailbox in the order of their numbers, as in [PATCH 2/3]."""
    raw = path.read_bytes()
    if not raw.startswith(b"From "):
        return [Patch(path.name, found)] if (found := split(decoded(raw))) else []
    import mailbox  # and the modules for mail with it, for a mailbox only

    numbered: list[tuple[int, Patch]] = []
    for mail in mailbox.mbox(path, create=False):
        subject = " ".join(str(mail["subject"]).split())
        found = split(mail_text(mail))
        if found and not ANSWER.match(subject):
            number = NUMBER.search(subject)
            numbered.append((int(number[1]) if number else 0, Patch(subject, found)))
    return [patch for _, patch in sorted(numbered, key=lambda one: one[0])]


def mail_text(mail: Message) -> str:
    """What a mail says, with all its parts that are text."""
    pieces = [piece for piece in mail.walk() if piece.get_content_maintype() == "text"]
    payloads = [piece.get_payload(decode=True) for piece in pieces]
    return "\n".join(decoded(x) for x in payloads if isinstance(x, bytes))


def decoded(raw: bytes) -> str:
    """Text with the ends of lines as patch(1) wants them; bytes that are no UTF-8 stay."""
    return raw.decode(errors="surrogateescape").replace("\r\n", "\n")


def split(text: str) -> list[Part]:
    """The parts of a patch by file."""
    begins = OF_GIT if OF_GIT.search(text) else PLAIN_DIFF
    at = [found.start() for found in begins.finditer(text)]
    pieces = [text[begin:end] for begin, end in pairwise([*at, len(text)])]
    return [Part(piece, paths_of(piece)) for piece in pieces]


def paths_of(piece: str) -> frozenset[str]:
    """The names that a part of a patch has in its head, without their first folder."""
    head = piece.partition("\n@@")[0]
    named = [x.strip().partition("/")[2] for x in FILE_LINES.findall(head) if x != "/dev/null"]
    return frozenset([*named, *MOVED.findall(head)])
