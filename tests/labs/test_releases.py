# SPDX-License-Identifier: GPL-2.0-only
"""Releases of a kernel that differ in their name alone are byte-identical, and a bisection that
crosses such names finds the commit that changes what a sender does.

Kernels as tests/made_kernels.py makes them: nothing is compiled.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_kernels import BETA, release
from tests.small import PROJECT, TINY

pytestmark = pytest.mark.lab

FLAVORS = ("reno", "cubic", "bbr")
QUEUE = 'kind = "drop-tail", limit_packets = 12'
TEXT = TINY.replace('policy = "plain", buffer_cells = 300', QUEUE)
COMMITS = 40
BUMPS = (9, 27)
GUILTY = 22
CELLBED = (sys.executable, "-P", "-m", "tests.made_kernels")
KERNELS = "6.12,git:.@HEAD"


def written(folder: Path, *flavors: str) -> Path:
    """The experiment, whose levels are flavors."""
    rules = "".join(
        f'[[rule]]\nwhen = {{ flavor = "{x}" }}\nset.tcp.flavor = "{x}"\n' for x in flavors
    )
    path = folder / "tiny.toml"
    path.write_text(TEXT.replace('["SACK"]', str(list(flavors))) + rules)
    return path


def called(number: int) -> str:
    """Another name of set-up's kernel, as long as its own."""
    own = release()
    return f"{own[:-1]}{(int(own[-1]) + number) % 10}"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository of such kernels."""
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, called(0), BETA, "the first")
    return folder


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path, release: str, beta: int, title: str) -> None:
    for name, text in (("RELEASE", release), ("BETA", beta), ("WORD", title)):
        (folder / name).write_text(f"{text}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", title)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), "CELLBED_MADE": str(folder / "made")}


def compare(folder: Path, tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    levels = ["--kernel", KERNELS, "--jobs", "1", "--out", str(folder / "out")]
    argv = [*CELLBED, "compare", str(folder / "tiny.toml"), *levels, *words]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=600, cwd=tree, env=environment(folder),
        check=False,
    )  # fmt: skip


def test_a_name_is_no_difference_at_any_place_in_a_lab(tmp_path: Path, tree: Path) -> None:
    """Set-up's kernel has run the last flavor first in its lab, the other runs it as the last."""
    written(tmp_path, *FLAVORS)
    commit(tree, called(1), BETA, "a release")
    alone = compare(tmp_path, tree, "--only", f"flavor={FLAVORS[-1]}")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    assert alone.stdout.splitlines()[1] == "byte-identical"
    [first] = (tmp_path / "out" / "trials").glob("*HEAD*")
    shutil.rmtree(first)
    both = compare(tmp_path, tree)
    assert both.returncode == 0, both.stdout + both.stderr
    assert both.stdout.splitlines()[:2] == [
        f"kernel: git:.@HEAD against 6.12, {len(FLAVORS)} comparisons", "byte-identical"
    ]  # fmt: skip


def test_a_bisection_across_two_releases(tmp_path: Path, tree: Path) -> None:
    written(tmp_path, "cubic")
    number = 0
    for place in range(1, COMMITS + 1):
        number += place in BUMPS
        title = "the guilty one" if place == GUILTY else f"commit {place}"
        commit(tree, called(number), 512 if place >= GUILTY else BETA, title)
    git(tree, "bisect", "start", "HEAD", f"HEAD~{COMMITS}")
    compare = [*CELLBED, "compare", str(tmp_path / "tiny.toml")]
    levels = ["--kernel", KERNELS, "--out", str(tmp_path / "out")]
    done = subprocess.run(
        ["git", "-C", str(tree), "bisect", "run", *compare, *levels], capture_output=True,
        text=True, timeout=900, env=environment(tmp_path), check=False,
    )  # fmt: skip
    found = re.search(r"^(\w+) is the first bad commit", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    assert git(tree, "show", "-s", "--format=%s", found[1]) == "the guilty one"
    assert "byte-identical" in done.stdout and "first difference is segment" in done.stdout
