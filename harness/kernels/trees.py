# SPDX-License-Identifier: GPL-2.0-only
"""A kernel's source as a set of files, wherever it is: a folder, or a commit of Git.

Both are read and never written. A file is known by Git's name for its content (SHA-1 over
"blob SIZE", a zero byte and the content), so that a folder and a commit with the same files
are the same source.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.kernels import parts
from harness.kernels.recipe import LAB, Recipe
from plan.errors import UsageError

# Without these it is no source of a kernel that the lab can use.
TOP = ("Makefile", "arch/um/Kconfig", "net/ipv4/tcp.c")
LINK, PROGRAM, PLAIN = "120000", "100755", "100644"


@dataclass(frozen=True)
class File:
    """Git's mode and name of a file's content."""

    mode: str
    blob: str


Files = Mapping[str, File]


class Tree(Protocol):
    """A source: its files by their paths, and what they hold."""

    @property
    def files(self) -> Files:
        """All files that belong to a lab's kernel."""

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents of some of the files, in their order; of a link, where it points."""


def blob(content: bytes) -> str:
    """Git's name of a content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def checked(name: str, files: Files) -> Files:
    """The files, when they are a kernel's source; UsageError."""
    refuse_missing(name, (path for path in TOP if path not in files))
    return files


def refuse_missing(name: str, missing: Iterator[str]) -> None:
    """UsageError for the first file without which a folder is no kernel's source."""
    if (path := next(missing, None)) is not None:
        raise UsageError(f"kernel {name}: this folder is no kernel source: it has no {path}")


NAME_TREE = "put the tree there, or name its folder"


class Folder:
    """The files of a folder as they are; contents are read anew only where a file has changed.

    Args:
        name: as the user has it, for errors.
        seen: a file that remembers what was read; beside the build.
        recipe: which of the files belong to the source.
    """

    def __init__(self, name: str, folder: Path, seen: Path, recipe: Recipe = LAB) -> None:
        if not folder.is_dir():
            raise UsageError(f"kernel {name}: {folder}: no such folder; {NAME_TREE}")
        self.folder, self.recipe = folder, recipe
        # First of all, because another folder may have millions of files to read.
        refuse_missing(name, (path for path in TOP if not (folder / path).exists()))
        try:
            known = json.loads(seen.read_text())
        except (OSError, ValueError):
            known = {}
        noted = {path: self._look(path, known.get(path)) for path in self._paths()}
        self.files = checked(
            name, {path: File(str(x[0]), str(x[1])) for path, x in noted.items() if x}
        )
        with suppress(OSError):  # a cache that cannot be written remembers nothing
            seen.write_text(json.dumps({path: x for path, x in noted.items() if x}))

    def _paths(self) -> Iterator[str]:
        """What belongs to the source: what Git would take, else all that no build makes."""
        argv = ["git", "-C", str(self.folder), "ls-files", "-coz", "--exclude-standard"]
        git = (self.folder / ".git").exists() and subprocess.run(
            argv, capture_output=True, check=False, timeout=600
        )
        if git and git.returncode == 0:
            listed: Iterable[str] = map(os.fsdecode, git.stdout.split(b"\0"))
        else:
            listed = (path for path in self._walked() if not parts.MADE.match(path))
        yield from sorted({path for path in listed if parts.wanted(path, self.recipe)})

    def _walked(self) -> Iterator[str]:
        for here, folders, names in os.walk(self.folder):
            linked = [x for x in folders if (Path(here) / x).is_symlink()]
            for name in [*names, *linked]:
                yield os.path.relpath(os.path.join(here, name), self.folder)  # noqa: PTH118

    def _look(self, path: str, known: list[object] | None) -> list[object] | None:
        """Mode and blob of a file, and by what of it a change is seen; None when it is gone."""
        try:
            status = (self.folder / path).lstat()
        except FileNotFoundError:
            return None
        marks = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        if known is not None and known[2:] == marks:
            return known
        mode = PROGRAM if status.st_mode & stat.S_IXUSR else PLAIN
        mode = LINK if stat.S_ISLNK(status.st_mode) else mode
        return [mode, blob(self._content(path)), *marks]

    def _content(self, path: str) -> bytes:
        whole = self.folder / path
        return os.fsencode(whole.readlink()) if whole.is_symlink() else whole.read_bytes()

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            yield path, self._content(path)


class Commit:
    """The files of a commit in the repository that a folder is in.

    Args:
        name: as the user has it, for errors.
        folder: the top of the source, in its repository.
        recipe: which of the files belong to the source.
    """

    def __init__(self, name: str, folder: Path, commit: str, recipe: Recipe = LAB) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise UsageError(f"kernel {name}: {folder}: no such folder; {NAME_TREE}")
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}"]
        found = self._git(*asked)
        if found.returncode != 0:
            said = found.stderr.decode(errors="replace").strip().partition("\n")[0]
            if "not a git repository" in said:
                said = f"{folder} is in no repository of Git"
            raise UsageError(f"kernel {name}: {said or f'no such commit in {folder}'}")
        self.commit = found.stdout.decode().strip()
        listed = self._git("ls-tree", "-rz", self.commit).stdout.split(b"\0")
        rows = (row.partition(b"\t") for row in listed if row)
        found_files = {os.fsdecode(path): about.decode().split() for about, _, path in rows}
        files = {p: File(x[0], x[2]) for p, x in found_files.items() if parts.wanted(p, recipe)}
        self.files = checked(name, files)

    def _git(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        argv = ["git", "-C", str(self.folder), *words]
        return subprocess.run(argv, capture_output=True, check=False, timeout=600)

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        with self._contents() as git:
            assert git.stdin is not None and git.stdout is not None
            for path in paths:
                git.stdin.write(self.files[path].blob.encode() + b"\n")
                git.stdin.flush()
                size = int(git.stdout.readline().split()[2])
                yield path, git.stdout.read(size + 1)[:size]

    @contextmanager
    def _contents(self) -> Iterator[subprocess.Popen[bytes]]:
        argv = ["git", "-C", str(self.folder), "cat-file", "--batch"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
            yield git
