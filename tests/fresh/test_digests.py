# SPDX-License-Identifier: GPL-2.0-only
"""tests.fresh.digests writes its table only of machines that give the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.api import digests as all_digests
from harness.judge import studies
from tests.fresh import digests, digests_there

SAME = "noise\nkernel\t1234567890abcdef\na trial seed 1\tfedcba0987654321\n"
OTHER = SAME.replace("fedcba", "fedcbb")


def write(
    monkeypatch: pytest.MonkeyPatch, page: Path, **said: tuple[int, str]
) -> str:  # fmt: skip
    """The page after machines that end so."""
    page.write_text("<!-- tests.fresh.digests -->\nold\n<!-- end -->\nafter\n<!-- end -->\n")
    monkeypatch.setattr(digests, "PAGE", page)
    machines = {
        name: (f"machine {name}", lambda release, of=of: subprocess.CompletedProcess([], *of, ""))
        for name, of in said.items()
    }
    monkeypatch.setattr(digests, "MACHINES", machines)
    digests.main([])
    return page.read_text()


def test_the_same_digests_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = write(monkeypatch, tmp_path / "page.md", a=(0, SAME), b=(0, SAME))
    assert text.splitlines()[1:5] == [
        "| machine | kernel | 1 |",
        "| --- | --- | --- |",
        "| machine a | 1234567890ab | fedcba098765 |",
        "| machine b | 1234567890ab | fedcba098765 |",
    ]
    assert "1. `a trial seed 1`\n" in text and "old" not in text and "\nafter\n" in text


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ((0, OTHER), "do not give the same"),
        ((0, SAME.replace("kernel", "module")), "do not give the same"),
        ((1, SAME), "b: status 1"),
        ((0, SAME.replace("fedcba0987654321", "")), "b: status 0"),
        ((0, "nothing\n"), "b: status 0"),
    ],
)
def test_else_the_page_stays(
    other: tuple[int, str], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=says):
        write(monkeypatch, tmp_path / "page.md", a=(0, SAME), b=other)
    assert "old" in (tmp_path / "page.md").read_text()


def test_the_trials_are_of_several_experiments() -> None:
    some = digests_there.some(all_digests.wanted(studies.folder("ubr_1996").parent))
    assert len({trial.experiment for trial in some}) == len(some) == digests_there.TRIALS


def test_the_page_has_a_place_for_the_table() -> None:
    assert digests.TABLE.search(digests.PAGE.read_text("utf-8"))
