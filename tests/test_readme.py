# SPDX-License-Identifier: GPL-2.0-only
"""The README's experiment and `make run` give the results that stand below them."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import readme
from tests.small import PROJECT

TRIALS = re.compile(r"^    (network .*)\n((?:    .*\n)+)", re.MULTILINE)  # what `make run` prints
COMMAND = re.compile(r"^run: setup\n((?:\t.*\n)+)", re.MULTILINE)  # of the Makefile
LIMIT_S = 900


def without_costs(table: str) -> list[list[str]]:
    """Rows without what the machine makes of it: wall seconds."""
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][-5:] == ["virt", "s", "wall", "s", "checks"]
    return [rows[0], *([*row[:-3], *row[-2:]] for row in rows[1:])]


@pytest.mark.lab
def test_the_experiment_gives_its_result(tmp_path: Path) -> None:
    found = readme.RESULT.search(readme.README.read_text(encoding="utf-8"))
    assert found, "no result in the README"
    assert without_costs(readme.run(tmp_path)) == without_costs(found[2])
    assert "<svg" in readme.picture(tmp_path / "out")


def make_run() -> list[str]:
    """The trials of `make run`, without its set-up."""
    found = COMMAND.search((PROJECT / "Makefile").read_text(encoding="utf-8"))
    assert found, "no rule run in the Makefile"
    return shlex.split(found[1].replace("\\\n", " "))


@pytest.mark.lab
def test_make_run_prints_its_table(tmp_path: Path) -> None:
    found = TRIALS.search(readme.README.read_text(encoding="utf-8"))
    assert found, "no table of make run in the README"
    done = subprocess.run(
        [*make_run(), "--out", str(tmp_path / "out")], cwd=PROJECT, capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    title, *table = (line.strip() for line in done.stdout.split(found[1])[-1].splitlines()[:6])
    assert found[1] in done.stdout and not title
    assert without_costs("\n".join(table)) == without_costs(found[2])
