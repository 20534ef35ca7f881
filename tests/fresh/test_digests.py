# SPDX-License-Identifier: GPL-2.0-only
"""tests.fresh.digests writes its table only of machines that give the same."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.api import digests as all_digests
from harness.design import experiment
from harness.judge import studies
from tests.fresh import digests, digests_there

SAME = (
    "noise\nkernel\t1234567890abcdef\nprograms\t2234567890abcdef\n"
    "packages of the image\t3234567890abcdef\na trial seed 1\tfedcba0987654321\n"
)
KEPT = {"a trial seed 1": "fedcba0987654321"}
OTHER = SAME.replace("fedcba", "fedcbb")
HEAD = "| machine | kernel | programs | packages of the image | trials with the kept digests |"
CELLS = "| 1234567890ab | 2234567890ab | 3234567890ab | 1 |"
STUDIES = studies.folder("ubr_1996").parent


def write(
    monkeypatch: pytest.MonkeyPatch, page: Path, *asked: str, before: str = "old\n",
    kept: Mapping[str, str] = KEPT, **said: tuple[int, str],
) -> str:  # fmt: skip
    """The page after machines that end so."""
    page.write_text(f"<!-- tests.fresh.digests -->\n{before}<!-- end -->\nafter\n<!-- end -->\n")
    monkeypatch.setattr(digests, "PAGE", page)
    monkeypatch.setattr(digests, "known", lambda: dict(kept))
    machines = {
        name: (f"machine {name}", lambda given, of=of: subprocess.CompletedProcess([], *of, ""))
        for name, of in said.items()
    }
    monkeypatch.setattr(digests, "MACHINES", machines)
    digests.main(asked)
    return page.read_text()


def test_the_same_digests_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = write(monkeypatch, tmp_path / "page.md", a=(0, SAME), b=(0, SAME))
    lines = text.splitlines()
    assert [lines[1], *lines[3:5]] == [HEAD, f"| machine a {CELLS}", f"| machine b {CELLS}"]
    assert "old" not in text and "\nafter\n" in text


@pytest.mark.parametrize("same", [True, False])
def test_the_row_of_another_machine_stays_if_it_is_the_same(
    same: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = {"a": (0, SAME), "b": (0, SAME)}
    page = tmp_path / "page.md"
    row = write(monkeypatch, page, "a", **said).splitlines()[3]
    before = f"{HEAD}\n| --- |\n" + (row if same else row.replace("223456", "223457")) + "\n"
    text = write(monkeypatch, page, "b", before=before, **said)
    assert ("| machine a |" in text) == same and "| machine b |" in text


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ((0, OTHER), r"not those of studies/digests\.csv"),
        ((0, SAME.replace("3234", "3235")), "do not give the same products"),
        ((1, SAME), "b: status 1"),
        ((0, SAME.replace("fedcba0987654321", "")), "b: status 0"),
        ((0, "nothing\n"), "b: status 0"),
        ((0, SAME.partition("a trial")[0]), "b: 1 of 4 digests are missing, first that of a trial"),
        ((0, SAME.replace("programs", "others")), "b: 1 of 4 .* first that of programs"),
    ],
)
def test_else_the_page_stays(
    other: tuple[int, str], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=says):
        write(monkeypatch, tmp_path / "page.md", a=(0, SAME), b=other)
    assert "old" in (tmp_path / "page.md").read_text()


def test_a_machine_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_end(given: digests.Given) -> digests.Done:
        raise subprocess.TimeoutExpired([], digests.LIMIT_S)

    monkeypatch.setattr(digests, "MACHINES", {"slow": ("a slow machine", no_end)})
    with pytest.raises(SystemExit, match=r"slow: no end within 7200 s; try again when"):
        digests.main(["slow"])


def test_a_number_of_trials_is_that_of_the_machine_or_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MACHINES", {})
    assert digests.Given(trials=3).there.endswith("digests_there 3")
    assert digests.Given().there.endswith("digests_there ")
    with pytest.raises(SystemExit):
        digests.main(["--trials", "0"])
    assert "--trials 0: it must be at least 1" in capsys.readouterr().err


def test_fewer_digests_are_enough_if_fewer_trials_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    kept = {"a trial seed 1": "fedcba0987654321", "a trial seed 2": "0"}
    said = {"a": (0, SAME), "b": (0, SAME)}
    with pytest.raises(SystemExit, match="a: 1 of 5 digests are missing"):
        write(monkeypatch, page, kept=kept, **said)
    assert "machine b" in write(monkeypatch, page, "--trials", "1", kept=kept, **said)


def test_other_digests_than_the_kept_are_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=r"not those of studies/digests\.csv"):
        write(monkeypatch, tmp_path / "page.md", kept={"a trial seed 1": "fedcbb"}, a=(0, SAME))
    assert "old" in (tmp_path / "page.md").read_text()


def test_a_digest_is_kept_of_each_trial() -> None:
    assert all(digests.known().values()) and len(digests.known()) > 20


def test_few_trials_are_of_several_experiments() -> None:
    seven = digests_there.trials(STUDIES, 7)
    assert len({trial.experiment for trial in seven}) == 7
    assert seven == digests_there.trials(STUDIES)[:7]


def test_only_the_trials_of_another_kernel_are_left_out() -> None:
    """No other experiment of studies/digests.toml names a kernel."""
    named = {trial.experiment for trial in all_digests.wanted(STUDIES)}
    bases = {name: experiment.load(STUDIES / name).base for name in named}
    other = {name for name, base in bases.items() if "kernel" in base.get("lab", {})}
    assert other == {digests_there.OTHER_KERNEL}


def test_a_file_more_is_another_checksum(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for path in files:
        path.write_text("x")
    assert digests_there.checksum(files) != digests_there.checksum(files[:1])
    assert digests_there.checksum([]) == ""


def test_the_page_has_a_place_for_the_table() -> None:
    assert digests.TABLE.search(digests.PAGE.read_text("utf-8"))
