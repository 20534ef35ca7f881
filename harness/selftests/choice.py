# SPDX-License-Identifier: GPL-2.0-only
"""Which tests a person asks for, of those that a tree has."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.kernels.trees import PROGRAM, File
from plan.errors import UsageError

TOP = "tools/testing/selftests/"
RUNNER = "ksft_runner.sh"
# Beside a runner (kselftest/runner.sh) its Makefile says TEST_PROGS := $(wildcard *.pkt).
RUN_BY_IT = ".pkt"
TIMEOUT = re.compile(r"^timeout=(\d+)", re.MULTILINE)
DEFAULT_LIMIT_S = 45  # kselftest/runner.sh


@dataclass(frozen=True, order=True)
class Test:
    """A test of a tree: its folder below tools/testing/selftests, and its file there."""

    __test__ = False  # not one of ours

    folder: str
    file: str

    @property
    def name(self) -> str:
        """As a person writes it."""
        return f"{self.folder}/{self.file}"


def all_in(files: Mapping[str, File]) -> list[Test]:
    """All that a tree has: scripts of folders with a runner, and other programs that can run."""
    ours = {path.removeprefix(TOP): file for path, file in files.items() if path.startswith(TOP)}
    found = []
    for path, file in ours.items():
        folder, _, name = path.rpartition("/")
        if f"{folder}/{RUNNER}" in ours:
            wanted = name.endswith(RUN_BY_IT)
        else:
            wanted = file.mode == PROGRAM and name.endswith((".sh", ".py"))
        if wanted:
            found.append(Test(folder, name))
    return sorted(found)


def chosen(kernel: str, known: Sequence[Test], asked: Iterable[str]) -> list[Test]:
    """The tests of a tree that are asked for, each once, in the order of their names.

    Args:
        kernel: of the tree, for errors.
        asked: a folder with a runner, a test, or a pattern with * and ?.

    Raises:
        UsageError: there is no such test.
    """
    found: set[Test] = set()
    for word in asked:
        name = named(word)
        of_word = [one for one in known if fits(one, name)]
        if not of_word:
            raise UsageError(refusal(kernel, known, word, name))
        found.update(of_word)
    return sorted(found)


def named(word: str) -> str:
    """What a person has written, as the name of a test or folder."""
    return word.strip("/").removeprefix(TOP).replace(":", "/")


def all_are_scripts(known: Sequence[Test], asked: Iterable[str]) -> bool:
    """Does each word mean scripts of a runner alone? They need no program of the tree."""
    found = [[one for one in known if fits(one, named(word))] for word in asked]
    return all(tests and all(x.file.endswith(RUN_BY_IT) for x in tests) for tests in found)


def fits(test: Test, name: str) -> bool:
    """Is a test meant by a name?"""
    whole = test.file.endswith(RUN_BY_IT) and test.folder == name
    return whole or test.name == name or fnmatch.fnmatchcase(test.name, name)


def refusal(kernel: str, known: Sequence[Test], word: str, name: str) -> str:
    """That there is no such test, and what could be meant."""
    said = f"TEST {word}: the tree of kernel {kernel} has no such test"
    if any(one.folder == name for one in known):
        return f"{said}, but a folder with tests; write '{name}/*' for all of them"
    folders = sorted({one.folder for one in known if one.file.endswith(RUN_BY_IT)})
    near = difflib.get_close_matches(
        name, [*folders, *(one.name for one in known)], n=1, cutoff=0.7
    )
    meant = (
        f"did you mean {near[0]}?"
        if near
        else f"write {folders[0]}, or FOLDER/FILE"
        if folders
        else ""
    )
    return "; ".join(filter(None, [said, meant]))


def limit_s(settings: str) -> int:
    """How long a test may take by the file `settings` of its folder [s]; 0 there means for ever."""
    match = TIMEOUT.search(settings)
    return (int(match[1]) or 86_400) if match else DEFAULT_LIMIT_S
