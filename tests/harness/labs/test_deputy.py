# SPDX-License-Identifier: GPL-2.0-only
"""What the host does in the folder of a lab: no link that the lab puts there leads it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import hold, inbox
from harness.labs import LabSpec
from harness.records import record
from harness.scripts import host
from plan.errors import LabError
from tests.paper import PaperLab


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of the account's that no lab is to change or to have copied."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "mine"
    path.write_text("mine")
    return path


def test_a_link_in_the_place_of_a_job_is_not_followed(tmp_path: Path, mine: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    for name in ("0001.json", ".0001.json.partial"):
        (folder / name).symlink_to(mine)
    inbox.give(folder / "0001.json", "a job")
    assert (folder / "0001.json").read_text() == "a job" and mine.read_text() == "mine"
    assert os.listdir(folder) == ["0001.json"]


def test_nor_is_one_in_the_place_of_the_folder(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "inbox").symlink_to(mine.parent)
    with pytest.raises(OSError, match="inbox"):
        hold.write(tmp_path, "trial", 1.0)
    assert os.listdir(mine.parent) == ["mine"]


def test_nothing_is_kept_that_a_link_leads_to(tmp_path: Path, mine: Path) -> None:
    results = tmp_path / "run" / "results"
    results.mkdir(parents=True)
    (results / "work").symlink_to(mine.parent)
    (results / "tmp").mkdir()
    (results / "tmp" / "link").symlink_to(mine)
    lab = SimpleNamespace(run_directory=(tmp_path / "run").resolve())
    assert host.keep(lab, tmp_path / "out", most_mib=1) == ["tmp"]  # type: ignore[arg-type]
    assert (tmp_path / "out" / "tmp" / "link").is_symlink()
    assert not (tmp_path / "out" / "work").exists()


def test_results_are_taken_and_removed_through_no_link(tmp_path: Path, mine: Path) -> None:
    lab = PaperLab(LabSpec(pairs=1), tmp_path / "run")
    lab.run_directory.mkdir()
    (lab.run_directory / "results").symlink_to(tmp_path)
    with pytest.raises(OSError, match="results"):
        lab.take("home", tmp_path / "taken")
    lab.forget("home")
    assert mine.read_text() == "mine"
    (lab.run_directory / "results").unlink()
    (lab.run_directory / "results" / "home").mkdir(parents=True)
    lab.take("home", tmp_path / "taken")
    assert os.listdir(lab.run_directory / "results") == [] and (tmp_path / "taken").is_dir()


def test_a_record_takes_nothing_from_a_link(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "flows.csv").symlink_to(mine)
    with pytest.raises(ValueError, match=r"flows\.csv is a link"):
        record.refuse_strange(tmp_path / "raw")


def test_a_record_takes_nothing_from_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    os.mkfifo(tmp_path / "raw" / "lab.json")
    with pytest.raises(ValueError, match=r"lab\.json is a link, a pipe or a device"):
        record.refuse_strange(tmp_path / "raw")


def test_what_is_no_file_is_not_kept_and_what_is_too_much_is_refused(tmp_path: Path) -> None:
    """A file with a hole takes no room in the lab, and all of its length where it is copied."""
    written = tmp_path / "run" / "results" / "tmp"
    written.mkdir(parents=True)
    os.mkfifo(written / "pipe")
    (written / "file").write_text("kept")
    lab = SimpleNamespace(run_directory=(tmp_path / "run").resolve())
    assert host.keep(lab, tmp_path / "out", most_mib=1) == ["tmp"]  # type: ignore[arg-type]
    assert os.listdir(tmp_path / "out" / "tmp") == ["file"]
    with (written / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(LabError, match=r"--out: tmp has files of 1048576 MiB, more than --disk 1"):
        host.keep(lab, tmp_path / "other", most_mib=1)  # type: ignore[arg-type]
    assert not (tmp_path / "other" / "tmp").exists()


def test_what_is_kept_runs_with_no_others_rights(tmp_path: Path) -> None:
    written = tmp_path / "run" / "results" / "tmp" / "folder" / "program"
    written.parent.mkdir(parents=True)
    written.touch()
    written.chmod(0o6755)
    lab = SimpleNamespace(run_directory=(tmp_path / "run").resolve())
    host.keep(lab, tmp_path / "out", most_mib=1)  # type: ignore[arg-type]
    kept = tmp_path / "out" / "tmp" / "folder" / "program"
    assert kept.stat().st_mode & 0o7777 == 0o755
