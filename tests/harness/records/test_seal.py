# SPDX-License-Identifier: GPL-2.0-only
"""Whatever is not as a record's checksums have it is told, also where they say less than was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.records import seal as sums
from harness.records import whole
from harness.records.seal import SUMS, changed_files, seal


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    for name in ("flows.csv", "lab.json", "trial.json"):
        (tmp_path / name).write_text(name)
    seal(tmp_path)
    return tmp_path


def lines(text: str) -> Callable[[str], str]:
    return lambda _: text


def without(name: str) -> Callable[[str], str]:
    def left(text: str) -> str:
        return "".join(line for line in text.splitlines(True) if not line.endswith(f" {name}\n"))

    return left


def edit_sums(folder: Path, edit: Callable[[str], str]) -> None:
    (folder / SUMS).write_text(edit((folder / SUMS).read_text()))


def test_a_record_as_it_was_made(sealed: Path) -> None:
    assert changed_files(sealed) == []


def test_what_is_written_later_has_no_line(sealed: Path) -> None:
    (sealed / "judgement.json").write_text("{}")
    (sealed / ".judgement.json.17").write_text("{")
    assert changed_files(sealed) == []


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lines(""), ["flows.csv", "lab.json", "trial.json"]),
        (without("flows.csv"), ["flows.csv"]),
        (lines("garbage\n"), [SUMS]),
        (lambda text: text + text.splitlines()[0] + ".more\n", ["flows.csv.more"]),
        (lambda text: text.replace("  lab", "  ../lab"), ["../lab.json", "lab.json"]),
        (lambda text: f"{'0' * 64}  flows.csv\n{text}", ["flows.csv"]),
    ],
    ids=["empty", "shortened", "no sums", "a line too many", "a file elsewhere", "two lines"],
)
def test_checksums_that_were_edited(
    sealed: Path, edit: Callable[[str], str], found: list[str]
) -> None:
    (sealed.parent / "lab.json").write_text("lab.json")
    edit_sums(sealed, edit)
    assert changed_files(sealed) == found


def test_each_file_is_read_once(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the sums name it, and by whatever other name."""
    read: list[Path] = []
    compute = sums.checksum
    monkeypatch.setattr(sums, "checksum", lambda path: read.append(path) or compute(path))
    edit_sums(sealed, lambda text: text * 9 + text.replace("  ", "  ./"))
    assert changed_files(sealed) == [f"./{path.name}" for path in sorted(read)]
    assert sorted(read) == sorted(path for path in sealed.iterdir() if path.name != SUMS)


def test_an_edit_hidden_by_a_line_that_was_taken_out(sealed: Path) -> None:
    (sealed / "lab.json").write_text("more")
    edit_sums(sealed, without("lab.json"))
    assert changed_files(sealed) == ["lab.json"]


def test_files_and_folders_beside(sealed: Path) -> None:
    (sealed / "more.csv").write_text("")
    (sealed / "folder").mkdir()
    (sealed / "trial.json").unlink()
    assert changed_files(sealed) == ["folder", "more.csv", "trial.json"]


def test_a_record_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that loses its power leaves no record of empty files."""
    done: list[str] = []
    rename = Path.rename
    monkeypatch.setattr(os, "fsync", lambda fd: done.append(os.readlink(f"/proc/self/fd/{fd}")))
    monkeypatch.setattr(Path, "rename", lambda *to: (done.append("rename"), rename(*to)))
    with whole.whole_folder(tmp_path, "record") as folder:
        (folder / "flows.csv").write_text("1")
        seal(folder)
    partial = tmp_path / ".record.partial"
    assert done == [*map(str, (partial / SUMS, partial / "flows.csv", partial)), "rename",
                    str(tmp_path)]  # fmt: skip
